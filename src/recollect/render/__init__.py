"""Sessions as views, and views as HTML and terminal text. All transcript text is made safe here."""
