import { buildAll } from './builds.ts';
import { explain } from './settings.ts';

/** `npm run build`: builds the web app, the desk and the server, for a machine that later runs them without building. */
try {
  const built = await buildAll({ building: (name) => console.log(`Building ${name} …`) });
  console.log(built.length > 0 ? `Built into ${built.join(' and ')}.` : 'Everything is up to date.');
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
