/** Set to `deep` by `npm run test:deep`. */
export const DEPTH_VARIABLE = 'TEST_DEPTH';

/** Files whose tests have more cases in `npm run test:deep`: those that call `casesOf`, by project. */
export const MORE_CASES: Readonly<Record<string, string[]>> = {
  integration: ['test/integration/service/{service,public-api}.test.ts'],
  unit: [
    'test/unit/delivery/{endpoint-turns,fairness}.test.ts',
    'test/unit/redelivery/{redeliver-crashes,redeliver,selection-missing}.test.ts',
    'test/unit/knowledge/{feed,hostile}.test.ts',
    'test/unit/delivery/outbound/outbound-memory.test.ts',
    'test/unit/http/sandbox-routing.test.ts',
  ],
  contract: [
    'test/contract/store/{conversations,delivery-filters,event-log,fencing,followers,listings,mailing-races,purging}.test.ts',
  ],
};

/**
 * The number of cases of a test, such as the runs of a property. A file that calls it is listed in
 * `MORE_CASES`, so that `npm run test:deep` runs it with all cases.
 * @param few in `npm test`
 * @param all in `npm run test:deep`
 */
export const casesOf = (few: number, all: number): number =>
  process.env[DEPTH_VARIABLE] === 'deep' ? all : few;
