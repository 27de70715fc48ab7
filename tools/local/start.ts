import { buildAll, builtServer } from './builds.ts';
import { launch } from './launch.ts';

/** `npm start`: runs everything on one port. */
process.exit(
  await launch({
    command: 'npm start',
    server: builtServer,
    prepare: (signal) => buildAll({ signal, building: (name) => console.log(`Building ${name} …`) }),
  }),
);
