import { describe, expect, it } from 'vitest';
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
