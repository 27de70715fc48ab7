import { programs, runProgram } from './checks.ts';

/** `npm run check`: types and lint. */
const types = await runProgram(programs.types);
const lint = await runProgram(programs.lint);
process.exit(types && lint ? 0 : 1);
