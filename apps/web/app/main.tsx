import '#ui/tokens.css';
import '#ui/base.css';
import '../styles/page.css';
import type { Site } from '#contract/schemas.ts';

/** Fetches the society's data during development. In production the server writes them into the page. */
async function fetchSite(): Promise<Site> {
  const response = await fetch('/api/public/site');
  const { data } = (await response.json()) as { data: Site };
  const root = document.documentElement.style;
  root.setProperty('--gold', data.society.colours.gold);
  root.setProperty('--red', data.society.colours.red);
  return data;
}

/** Resolves in a new task, so that the browser can first paint and handle input. */
const nextTask = () => new Promise((done) => setTimeout(done));

/** Starts the app in three tasks, because a single task would block input for too long on a slow phone. */
async function main() {
  const written = document.getElementById('site')?.textContent;
  await import(/* rspackMode: "eager" */ 'react-dom/client');
  await nextTask();
  const { start } = await import(/* rspackMode: "eager" */ './start.tsx');
  await nextTask();
  if (written) start(JSON.parse(written) as Site);
  else if (process.env.NODE_ENV === 'development') start(await fetchSite());
}

void main();
