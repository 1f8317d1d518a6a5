import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { routes } from '../../../functions/api/routes.ts';
import { DOCUMENTATION, SIGN_IN, WORKERS } from '../../../lib/infra/bundle.ts';
import { checkName, listStages, readStages } from '../../../lib/infra/context.ts';
import { METHOD_NOT_ALLOWED } from '../../../lib/infra/served-methods.ts';
import { readSettings } from '../../../lib/infra/settings.ts';

const read = (context: object) => readStages({ CDK_CONTEXT_JSON: JSON.stringify(context) });

describe('the stages of a CDK command', () => {
  it.each<[object, string[]]>([
    [{}, ['dev']],
    [{ stage: '' }, ['dev']],
    [{ stage: 'prod', '@aws-cdk/core:bootstrapQualifier': 'acme', 'aws:cdk:toolkit': 1 }, ['prod']],
    [{ stage: 'staging,prod' }, ['staging', 'prod']],
  ])('for %j are %j, from their files', async (context, names) => {
    const stages = await read(context);
    expect(stages.map(({ name }) => name)).toEqual(names);
    for (const { name, content } of stages) expect(readSettings(name, content).policy.stage).toBe(name);
  });

  it('are read from a file where the context is too long for a variable', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'context-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const file = join(directory, 'context.json');
    writeFileSync(file, JSON.stringify({ stage: 'local', settings: { class: 'development' } }));
    expect(await readStages({ CONTEXT_OVERFLOW_LOCATION_ENV: file })).toEqual([
      { name: 'local', content: { class: 'development' } },
    ]);
  });

  it.each<[object, string]>([
    [{ stage: 'nowhere' }, '-c stage=nowhere: there is no lib/stages/nowhere.ts, only '],
    [{ stage: '../infra/api' }, '-c stage=../infra/api: there is no'],
    [{ stage: 'prod', alarmEmail: 'a@b.c' }, '-c alarmEmail: settings are in lib/stages/prod.ts'],
  ])('for %j are refused', async (context, message) => {
    await expect(read(context)).rejects.toThrow(message);
  });
});

describe('the name of a stage', () => {
  it.each(['a', 'pr-12345', 'x2', 'a'.repeat(20)])('may be %s', (name) => {
    expect(() => checkName(name, [name, 'dev'])).not.toThrow();
  });

  it.each(['', 'A', '1st', 'a_b', 'a-', 'a'.repeat(21), 'my-aws', 'dev-ada', 'de'])(
    'is refused as %j beside dev and de-x',
    (name) => {
      expect(() => checkName(name, [name, 'dev', 'de-x'])).toThrow(`lib/stages/${name}.ts: `);
    },
  );

  it('leaves room for the names of all functions, and of the files of CloudFront', () => {
    const longest = 'a'.repeat(20);
    const names = Object.values(routes).map(({ name }) => name);
    const functions = [...names, ...WORKERS, ...SIGN_IN, ...DOCUMENTATION, METHOD_NOT_ALLOWED];
    for (const name of [...functions, 'ap-southeast-1'])
      expect(`conversation-service-${longest}-${name}`.length, name).toBeLessThanOrEqual(64);
  });
});

it.each(listStages())('stage %s has a valid name and file', async (name) => {
  const [stage] = await read({ stage: name });
  expect(readSettings(name, stage?.content)).toMatchObject({ policy: { stage: name } });
});
