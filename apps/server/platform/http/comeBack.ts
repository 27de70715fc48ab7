/** Returns a page without scripts that reloads itself after this many seconds. */
export function comeBackPage({
  societyName,
  sentence,
  reference,
  seconds,
}: {
  societyName: string;
  sentence: string;
  reference: string;
  seconds: number;
}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${seconds}">
<title>One moment, please - ${escapeHtml(societyName)}</title>
</head>
<body>
<h1>One moment, please</h1>
<p>${sentence}</p>
<p>This page tries again by itself.</p>
<p>Reference: ${reference}</p>
</body>
</html>
`;
}

/** Whether a path is for programs, not people. Every other path is answered with a page. */
export function isForPrograms(path: string): boolean {
  return /^\/(api|static)(\/|\?|$)/.test(path);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
