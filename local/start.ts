import { launch } from './launch.ts';
import { buildWeb } from './web.ts';

/** `npm start`: everything on one port. */
process.exit(
  await launch({
    command: 'npm start',
    prepare: (signal) => buildWeb({ signal, building: () => console.log('Building the web app …') }),
  }),
);
