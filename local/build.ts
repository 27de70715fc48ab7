import { explain } from './settings.ts';
import { buildWeb } from './web.ts';

/** `npm run build`: the web app, for a machine that serves it later without building. */
try {
  const built = await buildWeb({ building: () => console.log('Building the web app …') });
  console.log(built ? 'Built into apps/web/dist.' : 'apps/web/dist is up to date.');
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
