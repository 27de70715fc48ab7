/** Whether `npm run test:long` runs the tests, which then use larger numbers. */
export const isLong = process.env.TEST_LENGTH === 'long';
