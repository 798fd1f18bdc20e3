// Figures as text, as the server writes them: a page must not change one when it is updated.

/** @param {number} dollars */
export function formatDollars(dollars) {
  const isNothing = Math.round(dollars * 100) === 0;
  if (dollars > 0 && isNothing) return "<$0.01";
  return `$${dollars.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
