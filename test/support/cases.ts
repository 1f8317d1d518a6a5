/** Set to `deep` by `npm run test:deep`. */
export const DEPTH_VARIABLE = 'TEST_DEPTH';

/**
 * The cases of a test, or their number, such as the runs of a property. `npm run test:deep` runs the files
 * that import it with all cases.
 * @param few in `npm test`
 * @param all in `npm run test:deep`
 */
export const casesOf = <Cases>(few: Cases, all: Cases): Cases =>
  process.env[DEPTH_VARIABLE] === 'deep' ? all : few;
