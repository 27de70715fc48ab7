/** Whether `npm run test:long` runs the tests, which then use larger numbers. */
export const isLong = process.env.TEST_LENGTH === 'long';

/** The reason to skip a test of the fault suite itself, which takes as long as a run of that suite; false in `npm run test:long`. */
export const testsTheSuite = !isLong && 'it tests the fault suite: npm run test:long';
