import { checkLint, checkTypes } from './checks.ts';

/** `npm run check`: types and lint. */
const types = await checkTypes();
const lint = await checkLint();
process.exit(types && lint ? 0 : 1);
