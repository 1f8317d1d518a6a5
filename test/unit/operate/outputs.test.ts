import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { operateCommand } from '../../../lib/operate/command.ts';
import { OperateError } from '../../../lib/operate/errors.ts';
import { outputsOf, resourcesOf } from '../../../lib/operate/outputs.ts';
import { placeOf } from '../../../lib/operate/place.ts';

const OUTPUTS = {
  TableService: 'Data-Service-1',
  QueueCheckSource: 'https://sqs.eu-central-1.amazonaws.com/1/checks',
  DeadLettersCheckSource: 'https://sqs.eu-central-1.amazonaws.com/1/dead',
  KeysSigning: 'arn:aws:secretsmanager:eu-central-1:1:secret:signing',
  ApiUrl: 'https://api',
};
const cdk = JSON.stringify({
  'ConversationService-prod': OUTPUTS,
  'ConversationService-dev': { TableService: 'of-dev' },
});
const cloudFormation = JSON.stringify({
  Stacks: [
    {
      StackName: 'ConversationService-prod',
      Outputs: Object.entries(OUTPUTS).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
    },
    { StackName: 'Other' },
  ],
});

describe('outputs of stacks', () => {
  it.each([
    ['the CDK', cdk],
    ['CloudFormation', cloudFormation],
  ])('are read as %s writes them, for one stage', (_, text) => {
    expect(outputsOf(text, 'prod', 'the file')).toMatchObject(OUTPUTS);
  });

  it('contain only tables, queues, dead-letter queues and keys', () => {
    const { tables, queues, deadLetters, keys } = resourcesOf(OUTPUTS);
    expect([...tables]).toEqual([['service', OUTPUTS.TableService]]);
    expect([...queues]).toEqual([['check-source', OUTPUTS.QueueCheckSource]]);
    expect([...deadLetters]).toEqual([['check-source', OUTPUTS.DeadLettersCheckSource]]);
    expect([...keys]).toEqual([['signing', OUTPUTS.KeysSigning]]);
  });

  it.each([
    ['no JSON', '{', 'has no outputs of stacks'],
    ['something else', '[]', 'has no outputs of stacks'],
    ['nothing of the stage', JSON.stringify({ 'ConversationService-dev': {} }), 'does not name the stack'],
  ])('are refused when they contain %s', (_, text, message) => {
    expect(() => outputsOf(text, 'prod', 'the file')).toThrow(OperateError);
    expect(() => outputsOf(text, 'prod', 'the file')).toThrow(message);
  });
});

describe('the deployment', () => {
  const describeStacks = async () => cloudFormation;

  it('is found by CloudFormation, in the region of its queues by default', async () => {
    const place = await placeOf({ local: false, stage: 'prod' }, {}, describeStacks);
    expect(place).toMatchObject({ name: 'stage prod, eu-central-1', region: 'eu-central-1' });
    expect(place.endpoints).toBeUndefined();
  });

  it('is in the given region rather than that of the environment', async () => {
    const variables = { AWS_REGION: 'us-west-2' };
    const flags = { local: false, stage: 'prod' };
    expect(await placeOf(flags, variables, describeStacks)).toMatchObject({ region: 'us-west-2' });
    expect(await placeOf({ ...flags, region: 'eu-west-1' }, variables, describeStacks)).toMatchObject({
      region: 'eu-west-1',
    });
  });

  it('must be given', async () => {
    await expect(placeOf({ local: false }, {}, describeStacks)).rejects.toThrow('--stage prod');
  });

  it('is missing when the local run was never started', async () => {
    const variables = { LOCAL_DIR: '/nowhere' };
    await expect(placeOf({ local: true }, variables)).rejects.toThrow('start the local run first');
  });

  it('causes an error that names an unreadable file', async () => {
    const flags = { local: false, stage: 'prod', outputs: '/nowhere/outputs.json' };
    await expect(placeOf(flags, {})).rejects.toThrow('/nowhere/outputs.json cannot be read');
  });
});

/** No program listens on this port: it needs privileges, and has no service. */
const STOPPED = 'http://127.0.0.1:1';

describe('a command on the local run', () => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'operate-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    writeFileSync(
      join(directory, 'outputs.json'),
      JSON.stringify({
        region: 'us-east-1',
        endpoints: { dynamodb: STOPPED, sqs: STOPPED, secretsManager: STOPPED, lambda: STOPPED },
        outputs: { TableService: 'Service' },
      }),
    );
  });

  async function operate(...args: string[]) {
    const [output, errors] = [new PassThrough(), new PassThrough()];
    const code = await operateCommand(args, {
      variables: { LOCAL_DIR: directory },
      output,
      errors,
      now: () => new Date(),
    });
    output.end();
    errors.end();
    return { code, output: await text(output), errors: await text(errors) };
  }

  it('that is stopped says how to start it', async () => {
    expect(await operate('host', 'list', '--local')).toEqual({
      code: 1,
      output: '',
      errors: `✗ The local run in ${directory} is not running. Start it with npm start.\n`,
    });
  });

  it('that changes something says without --yes what it would do, which is no failure', async () => {
    expect(await operate('host', 'block', 'hooks.example.com', '--local')).toEqual({
      code: 1,
      output: '',
      errors: `– hooks.example.com and its subdomains would be blocked: nothing would be sent to them (local run in ${directory}). Nothing was done: repeat with --yes, or with --dry-run to see more.\n`,
    });
  });
});
