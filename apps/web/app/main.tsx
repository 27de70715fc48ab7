import '../styles/tokens.css';
import '../styles/base.css';
import type { Site } from '#contract/schemas.ts';

/** For the development server, which does not write the society's data into the page. */
async function fetchSite(): Promise<Site> {
  const response = await fetch('/api/public/site');
  const { data } = (await response.json()) as { data: Site };
  const root = document.documentElement.style;
  root.setProperty('--gold', data.society.colours.gold);
  root.setProperty('--red', data.society.colours.red);
  return data;
}

/** Ends the current task, so that the browser can paint and handle input. */
const nextTask = () => new Promise((done) => setTimeout(done));

/** Runs in three tasks: a single task would block input for too long on a slow phone. */
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
