// What browsers have and the compiler does not know, and the events that our own scripts send each
// other.

interface DocumentEventMap {
  "recollect:end": CustomEvent<{ isLast: boolean }>;
  "recollect:failure": CustomEvent<{ step: number }>;
  "recollect:found": CustomEvent<{ hits: { turn: number | null }[] }>;
  "recollect:grown": CustomEvent<null>;
  "recollect:hit": CustomEvent<{ step: number }>;
}

interface TrustedHtmlPolicy {
  createHTML(text: string): string;
}

interface Window {
  trustedTypes?: {
    createPolicy(name: string, rules: TrustedHtmlPolicy): TrustedHtmlPolicy;
  };
}
