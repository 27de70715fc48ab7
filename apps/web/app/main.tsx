import '../styles/tokens.css';
import '../styles/base.css';
import type { Site } from '#contract/schemas.ts';

/** The development server does not write the society into the page, so there it is asked for. */
async function fetchSite(): Promise<Site> {
  const response = await fetch('/api/public/site');
  const { data } = (await response.json()) as { data: Site };
  const root = document.documentElement.style;
  root.setProperty('--gold', data.society.colours.gold);
  root.setProperty('--red', data.society.colours.red);
  return data;
}

/** Lets the browser paint and answer a touch. */
const breathe = () => new Promise((done) => setTimeout(done));

/** In three steps: together they would be one long task on a slow phone, on a page that is already painted. */
async function main() {
  const written = document.getElementById('site')?.textContent;
  await import(/* rspackMode: "eager" */ 'react-dom/client');
  await breathe();
  const { start } = await import(/* rspackMode: "eager" */ './start.tsx');
  await breathe();
  if (written) start(JSON.parse(written) as Site);
  else if (process.env.NODE_ENV === 'development') start(await fetchSite());
}

void main();
