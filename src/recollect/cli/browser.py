"""Open the web app in a browser."""

import click


def open_browser(link: str) -> None:
    """Open a one-time link, or print it if there is no browser, as on a server."""
    import webbrowser  # rarely needed

    if not webbrowser.open(link):
        click.echo(f"Could not open a browser. Use this one-time link: {link}", err=True)
