import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { VERSIONS } from '../../engines/names.ts';
import { contractFilesNeeding } from '../../engines/test-files.ts';

it.each(['dynamodb-local', 'elasticmq'] as const)(
  'the version of %s is that of its Maven project',
  (engine) => {
    const pom = readFileSync(join(import.meta.dirname, `../../engines/maven/${engine}.xml`), 'utf8');
    const [, dependency = ''] = pom.split('<dependency>');
    expect(dependency).toContain(`<version>${VERSIONS[engine]}</version>`);
  },
);

it('contract test files are selected by the engine that they import, directly or not', () => {
  const queues = contractFilesNeeding(['sqs']);
  expect(queues).toContain('test/contract/queue/delivery-queues.test.ts');
  expect(queues).not.toContain('test/contract/store/usage.test.ts');
  const tables = contractFilesNeeding(['dynamoDb']);
  expect(tables).toContain('test/contract/store/delivery-states.test.ts');
  expect(tables).not.toContain('packages/aws-local/test/contract/sqs.test.ts');
});
