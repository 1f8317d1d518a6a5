import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  PurgeQueueCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { REGION } from 'aws-local/arns.ts';
import { type Cloud, startCloud } from 'aws-local/cloud.ts';
import { CREDENTIALS } from 'aws-local/engines/engines.ts';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { OrgId } from '../../../functions/aws/ids.ts';
import type { FunctionName } from '../../../lib/infra/grants/grant.ts';
import { ensureCertificates } from '../../../lib/local-run/certificates/certificate-files.ts';
import { LOCAL_SERVICE } from '../../../lib/local-run/start/local-service.ts';
import { MAIL_FROM, synthesize } from '../../../lib/local-run/start/synthesis.ts';
import { disableMapping, removeType, reserveConcurrency, withdrawActions } from '../../support/assembly.ts';
import { aService } from './a-service.ts';
import { type ProxiedAnswer, startProxy } from './verify/proxy.ts';
import { type OperatorOutputs, type Verification, verify, writeOutputs } from './verify/verification.ts';

/* The verification of a deployment, on local runs with one fault each. */

/** Seconds that a faulty run gets for what it cannot do. */
const WAIT = ['--wait', '6'];

const planted: { fault: string; said: string }[] = [];
/** Checks that the verification fails and names the fault, and keeps its output for the list. */
function expectNamed(fault: string, run: Verification, check: string, finding: RegExp): void {
  planted.push({ fault, said: run.said });
  expect([run.code, run.errors]).toEqual([1, '']);
  expect(run.failed).toContain(check);
  expect(run.said).toMatch(finding);
  // The last line repeats the names.
  expect(run.output.trimEnd().split('\n').at(-1)).toContain(check);
  expect(run.output).toMatch(/✓ Remove what was made/);
}

afterAll(() => {
  const list = planted.map(({ fault, said }) => `${fault}\n${said}`).join('');
  process.stdout.write(`planted faults, and what the verification said\n\n${list}`);
});

describe('the verification of a local run with changed answers', { timeout: 120_000 * PATIENCE }, () => {
  const service = aService({});
  const readOutputs = async (): Promise<OperatorOutputs> =>
    JSON.parse(await readFile(join(service.run.directory, 'outputs.json'), 'utf8'));

  /** Puts a proxy in front of the API. */
  async function behindProxy(
    change: (path: string, answer: ProxiedAnswer) => ProxiedAnswer,
  ): Promise<string> {
    const outputs = await readOutputs();
    const api = new URL(outputs.outputs.ApiUrl ?? '');
    const proxy = await startProxy(api.origin, ({ method, url }, answer) =>
      change(`${method} ${url}`, answer),
    );
    onTestFinished(proxy.stop);
    const directory = join(service.run.directory, 'behind-proxy');
    await writeOutputs(directory, {
      ...outputs,
      outputs: { ...outputs.outputs, ApiUrl: `${proxy.url}${api.pathname}` },
    });
    return directory;
  }

  it('names a queue with a dead letter', async () => {
    const { endpoints, outputs } = await readOutputs();
    const sqs = new SQSClient({ region: REGION, endpoint: endpoints.sqs ?? '', credentials: CREDENTIALS });
    onTestFinished(() => sqs.destroy());
    const QueueUrl = outputs.DeadLettersMeter;
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{}' }));
    onTestFinished(() => void sqs.send(new PurgeQueueCommand({ QueueUrl })));
    const run = await verify(service.run.directory);
    expectNamed('a dead letter of the meter', run, 'Dead letters', /meter has 1:/);
    await sqs.send(new PurgeQueueCommand({ QueueUrl }));
  });

  it('names an unknown path that is answered with a page', async () => {
    const directory = await behindProxy((call, answer) =>
      call.includes('/no-such-path')
        ? { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from('<p>Hello</p>') }
        : answer,
    );
    const run = await verify(directory);
    expectNamed(
      'unknown paths answer 200',
      run,
      'Call an unknown path',
      /GET \/api\/v1\/no-such-path answered 200 instead of 404/,
    );
  });

  it('names a route with a response of another shape', async () => {
    const directory = await behindProxy((call, answer) =>
      call === 'GET /api/v1/webhooks' && answer.status === 200
        ? { ...answer, body: Buffer.from('{"items":[]}') }
        : answer,
    );
    const run = await verify(directory);
    expectNamed(
      'the list of endpoints has another shape',
      run,
      'Call with an API key',
      /GET \/api\/v1\/webhooks answered 200 with an unexpected body/,
    );
  });

  it('names an error whose request id differs from its header', async () => {
    const directory = await behindProxy((_, answer) =>
      answer.status === 405 ? { ...answer, headers: { ...answer.headers, 'request-id': 'other' } } : answer,
    );
    const run = await verify(directory);
    expectNamed(
      'a 405 with another request id in its header',
      run,
      'Call with a wrong method',
      /two different request ids/,
    );
  });
});

describe('the verification of a local run with a faulty stack', { timeout: 120_000 * PATIENCE }, () => {
  let directory = '';
  let caFile = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'verify-'));
    ({ caFile } = await ensureCertificates(directory, new Date()));
    await synthesize({
      assembly: join(directory, 'assembly'),
      compileCache: join(tmpdir(), 'service-compile-cache'),
      context: {
        stage: 'dev',
        settings: {
          class: 'development',
          mailFrom: MAIL_FROM,
          alarms: true,
          alarmEmail: 'on-call@local.test',
          dashboard: { origin: 'https://dashboard.example' },
        },
      },
      signal: AbortSignal.timeout(110_000),
    });
  }, 120_000 * PATIENCE);
  afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));

  /** Starts the stack with a change of its templates. */
  async function broken(name: string, edit: (assembly: string) => void): Promise<Broken> {
    const assembly = join(directory, name);
    await cp(join(directory, 'assembly'), assembly, { recursive: true });
    edit(assembly);
    const state = join(directory, `${name}-state`);
    const cloud = await startCloud({ ...LOCAL_SERVICE, assembly, directory: state, port: 0, caFile });
    onTestFinished(async () => {
      await cloud.stop();
      await rm(assembly, { recursive: true, force: true });
    });
    const { endpoints, outputs } = cloud;
    return {
      cloud,
      directory: await writeOutputs(state, { region: REGION, endpoints: { ...endpoints }, outputs }),
    };
  }

  it('names the disabled event source mapping and the missing delivery', async () => {
    const { directory: at } = await broken('mapping', (assembly) =>
      disableMapping(assembly, 'DeliveryDispatchFromDataDeliverySlow'),
    );
    const run = await verify(at, { args: WAIT });
    expectNamed(
      'the mapping of the dispatcher is off',
      run,
      'Event source mappings',
      /The mapping of conversation-service-dev-dispatch from the queue slow is Disabled/,
    );
    expect(run.failed).toContain('Deliver an event in the sandbox');

    const interrupted = await verify(at, { interruptAfter: 'Register an endpoint' });
    expect(interrupted.code).toBe(130);
    expect(interrupted.output).toMatch(/– Deliver an event in the sandbox +skipped: interrupted/);
    expect(interrupted.output).toMatch(/✓ Remove what was made .*org_/);
  });

  it.each<[FunctionName[], string, string, RegExp]>([
    [
      ['dispatch'],
      'UpdateItem',
      'Deliver an event in the sandbox',
      /After 6 s dlv_\w+ is pending after 0 attempts/,
    ],
    // The second creates the deliveries of the batches that the fan-out gave up.
    [
      ['fan-out', 'dead-fan-outs'],
      'PutItem',
      'Deliver an event in the sandbox',
      /has no delivery after 6 s: the fan-out did not create it/,
    ],
    [
      ['provision-sandbox'],
      'PutItem',
      'Provision a sandbox with a session',
      /POST \/api\/settings\/sandbox\/provision answered 500 instead of 201: INTERNAL_ERROR/,
    ],
    [['enrol'], 'PutItem', 'Make an organization', /conversation-service-dev-enrol failed: .*AccessDenied/],
  ])('names what the role of %j does not allow: %s', async (names, operation, check, finding) => {
    const [name = ''] = names;
    const action = `dynamodb:${operation}`;
    const { cloud, directory: at } = await broken(`${name}-role`, (assembly) => {
      for (const each of names) withdrawActions(assembly, each, [action]);
    });
    const session = name === 'provision-sandbox' ? { token: await adminToken(cloud) } : {};
    const run = await verify(at, { args: WAIT, ...session });
    expectNamed(`the role of ${name} lacks ${action}`, run, check, finding);
    const skipped = /– Make its sandbox +skipped: needs the organization, which could not be made/;
    if (name === 'enrol') expect(run.output).toMatch(skipped);
  });

  it('names the alarms that nobody gets, and the subscription that was not confirmed', async () => {
    const { cloud, directory: at } = await broken('no-subscription', (assembly) =>
      removeType(assembly, 'AWS::SNS::Subscription'),
    );
    const check = 'Alarm subscriptions';
    const finding = /Nobody gets the alarms: "aws sns subscribe --topic-arn arn:aws:sns:/;
    expectNamed('no subscription of the alarms', await verify(at), check, finding);

    const { endpoints, outputs } = cloud;
    const sns = new SNSClient({ region: REGION, endpoint: endpoints.sns ?? '', credentials: CREDENTIALS });
    onTestFinished(() => sns.destroy());
    const subscription = { TopicArn: outputs.AlarmTopicArn, Protocol: 'email', Endpoint: 'new@local.test' };
    await sns.send(new SubscribeCommand(subscription));
    const pending = /new@local.test gets no alarms until the link .* is opened/;
    expectNamed('a subscription that nobody confirmed', await verify(at), check, pending);
  });

  it('names the queue that does not drain', async () => {
    const { cloud, directory: at } = await broken('meter-throttled', (assembly) =>
      reserveConcurrency(assembly, 'meter', 0),
    );
    const sqs = new SQSClient({ region: REGION, endpoint: cloud.endpoints.sqs, credentials: CREDENTIALS });
    onTestFinished(() => sqs.destroy());
    // More than the reader of the queue receives at once.
    for (let batch = 0; batch < 25; batch++)
      await sqs.send(
        new SendMessageBatchCommand({
          QueueUrl: cloud.outputs.QueueMeter,
          Entries: Array.from({ length: 10 }, (_, index) => ({ Id: String(index), MessageBody: '{}' })),
        }),
      );
    const run = await verify(at, { args: WAIT });
    expectNamed(
      'the meter is throttled to no invocation',
      run,
      'Queues',
      /meter is stuck: \d+ waiting and not fewer/,
    );
  });
});

interface Broken {
  cloud: Cloud;
  /** LOCAL_DIR of the command. */
  directory: string;
}

const Enrolled = z.object({ organizationId: OrgId });

/** A session token of an admin of a new organization. */
async function adminToken({ invoke, outputs, identity }: Cloud): Promise<string> {
  const enrolled = await invoke(outputs.EnrolFunctionName ?? '', { name: 'Example Ltd' });
  const { organizationId } = Enrolled.parse(enrolled);
  if (identity === undefined) throw new Error('the template has no user pool');
  const email = 'admin@example.test';
  identity.setUsers([
    {
      email,
      password: 'unused',
      attributes: {
        'custom:organization': organizationId,
        'custom:role': 'admin',
        preferred_username: organizationId,
      },
    },
  ]);
  return identity.idToken(email, { lifetimeSeconds: 3600 });
}
