import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRelease } from '../../support/release-check.ts';

const NESTED = 'nested.template.json';
const table = { Type: 'AWS::DynamoDB::Table', DeletionPolicy: 'Retain', Properties: {} };

describe('npm run release-check', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'release-check-test-'));
    await writeAssembly('one', { Table: table });
    await writeAssembly('two', {});
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  /** A stack with a nested one that has the resources. */
  async function writeAssembly(name: string, Resources: object) {
    const write = (file: string, content: object) =>
      writeFile(join(directory, name, file), JSON.stringify(content));
    await mkdir(join(directory, name));
    const Properties = { TemplateURL: `https://bucket.example/${NESTED}` };
    await write(NESTED, { Resources });
    await write('stack.json', { Resources: { Data: { Type: 'AWS::CloudFormation::Stack', Properties } } });
    const properties = { templateFile: 'stack.json', stackName: 'Service' };
    await write('manifest.json', {
      artifacts: { Service: { type: 'aws:cloudformation:stack', properties } },
    });
  }

  const between = (from: string, to: string) => [
    '--from',
    join(directory, from),
    '--to',
    join(directory, to),
  ];

  it('exits with 1 and says what is lost, forwards and back', async () => {
    const { code, printed, errors } = await checkRelease(...between('one', 'two'));
    expect(printed).toContain('✗ These leave Service/Data, stay in the account');
    expect(printed).toMatch(/Roll back to \S+one\n\n {2}✓ Nothing is refused or lost/);
    expect(errors).toBe('');
    expect(code).toBe(1);
  });

  it('exits with 0 when a rollback alone leaves data', async () => {
    const { code, printed } = await checkRelease(...between('two', 'one'), '--json');
    const finding = {
      rule: 'data-left',
      level: 'warning',
      direction: 'roll back',
      resources: ['Table'],
      stages: [],
    };
    expect(JSON.parse(printed)).toMatchObject({ passed: true, findings: [finding] });
    expect(code).toBe(0);
  });

  it('names a commit that is not there', async () => {
    const { code, errors } = await checkRelease('no-such-commit');
    expect(errors).toContain('✗ There is no commit no-such-commit here');
    expect(code).toBe(1);
  });
});
