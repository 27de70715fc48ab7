import { resolve } from 'node:path';
import { programs, runProgram } from './checks.ts';
import { checkWalls } from './walls.ts';

/** Runs Biome, and checks which folders of apps/server import which others (walls.ts). */
const faults = checkWalls(resolve(import.meta.dirname, '../..'));
for (const fault of faults) console.error(fault);
const passes = await runProgram(programs.biome);
process.exit(passes && faults.length === 0 ? 0 : 1);
