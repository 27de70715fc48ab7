/** Whether `npm run test:long` runs the tests, which then use larger numbers. */
export const isLong = process.env.TEST_LENGTH === 'long';

/**
 * The reason to skip a test in `npm test`; false in `npm run test:long`. For tests of what joiners and staff never meet: the
 * benchmarks, the fault suite itself, how `npm start` is killed, and large versions of what another test checks with smaller
 * numbers.
 */
export const onlyLong = !isLong && 'npm run test:long runs it';
