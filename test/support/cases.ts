/** Set to `deep` by `npm run test:deep`. */
export const DEPTH_VARIABLE = 'TEST_DEPTH';

/**
 * The number of cases of a test, such as the runs of a property. A file that calls it is listed in
 * `MORE_CASES` (test/vitest.config.ts), so that `npm run test:deep` runs it with all cases.
 * @param few in `npm test`
 * @param all in `npm run test:deep`
 */
export const casesOf = (few: number, all: number): number =>
  process.env[DEPTH_VARIABLE] === 'deep' ? all : few;
