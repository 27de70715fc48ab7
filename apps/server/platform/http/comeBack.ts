import { escapeHtml } from '../escapeHtml.ts';

/** Returns an HTML page without scripts that reloads itself after `seconds`. */
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

/** Whether requests to a path expect data instead of an HTML page: the API and the static files. */
export function isForPrograms(path: string): boolean {
  return /^\/(api|static)(\/|\?|$)/.test(path);
}
