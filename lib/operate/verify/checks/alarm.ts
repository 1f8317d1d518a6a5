import {
  type CloudWatchClient,
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
  type MetricAlarm,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import { paginateListSubscriptionsByTopic, type Subscription } from '@aws-sdk/client-sns';
import * as z from 'zod';
import { type Check, CheckFailed, CheckSkipped, requireNone } from '../check.ts';
import type { VerifyContext } from '../context.ts';

const REASON = 'npm run verify: a test, nothing is wrong';
const LOOK_AGAIN_MS = 1_000;
/** Milliseconds of history, to tell earlier actions from those of the test. */
const HISTORY_MS = 3_600_000;

const ActionData = z.object({ actionState: z.string() });

export const alarmChecks = (context: VerifyContext): Check[] => [
  { name: 'Alarm subscriptions', run: () => checkSubscriptions(context) },
  {
    name: 'Ring an alarm',
    async run() {
      const { cloudWatch } = context.clients;
      if (cloudWatch === undefined) throw new CheckSkipped('not there locally: CloudWatch');
      return setAlarm(cloudWatch, context);
    },
  },
];

/**
 * CloudWatch's notifications succeed even if the topic has no confirmed subscription.
 * @throws CheckFailed when one was not confirmed, or there is none
 */
async function checkSubscriptions({ clients: { sns: client }, place }: VerifyContext): Promise<string> {
  const { AlarmTopicArn: TopicArn } = place.outputs;
  if (TopicArn === undefined) throw new CheckSkipped('the stage has no alarms');
  if (client === undefined) throw new CheckSkipped('not there locally: SNS');
  const all: Subscription[] = [];
  for await (const page of paginateListSubscriptionsByTopic({ client }, { TopicArn }))
    all.push(...(page.Subscriptions ?? []));
  requireNone(
    all
      .filter(({ SubscriptionArn }) => SubscriptionArn === 'PendingConfirmation')
      .map(
        ({ Endpoint }) =>
          `${Endpoint} gets no alarms until the link in the e-mail "Subscription Confirmation" is opened; "aws sns subscribe" sends another.`,
      ),
  );
  if (all.length === 0)
    throw new CheckFailed(
      `Nobody gets the alarms: "aws sns subscribe --topic-arn ${TopicArn} --protocol email --notification-endpoint <address>".`,
    );
  return `${all.length} confirmed`;
}

/**
 * Sets an alarm to ALARM and back to OK, and waits until CloudWatch has notified the topic of both.
 * @throws CheckFailed when the topic rejects a notification, or none is sent in time
 */
async function setAlarm(client: CloudWatchClient, context: VerifyContext): Promise<string> {
  const { removals, place } = context;
  const { AlarmTopicArn: topic, TestAlarmName: AlarmName } = place.outputs;
  if (topic === undefined && AlarmName === undefined) throw new CheckSkipped('the stage has no alarms');
  if (topic === undefined || AlarmName === undefined)
    throw new CheckFailed('The outputs have no AlarmTopicArn or no TestAlarmName.');
  const { MetricAlarms: [alarm] = [] } = await client.send(
    new DescribeAlarmsCommand({ AlarmNames: [AlarmName], AlarmTypes: ['MetricAlarm'] }),
  );
  if (alarm?.AlarmActions?.includes(topic) !== true)
    throw new CheckFailed(`The alarm ${AlarmName} does not notify ${topic}.`);
  if (!alarm.ActionsEnabled) throw new CheckFailed(`The actions of the alarm ${AlarmName} are disabled.`);
  if (alarm.StateValue !== 'OK')
    throw new CheckSkipped(`${AlarmName}, the one that may ring for a test, is not OK`);
  const set = (StateValue: 'ALARM' | 'OK') =>
    client.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason: REASON }));
  removals.add(`the test of ${AlarmName}`, async () => void (await set('OK')));
  const since = new Date(context.now().getTime() - HISTORY_MS);
  const actions = () => readActions(client, AlarmName, since);
  const before = (await actions()).length;
  await set('ALARM');
  await waitForActions(context, alarm, actions, before + 1);
  await set('OK');
  await waitForActions(context, alarm, actions, before + 2);
  return `${AlarmName} notified the topic of ALARM and OK`;
}

interface AlarmAction {
  outcome: 'succeeded' | 'failed' | 'in progress';
  summary: string;
}

/** Notifications of the alarm, newest first. */
async function readActions(client: CloudWatchClient, AlarmName: string, since: Date): Promise<AlarmAction[]> {
  const { AlarmHistoryItems = [] } = await client.send(
    new DescribeAlarmHistoryCommand({
      AlarmName,
      HistoryItemType: 'Action',
      StartDate: since,
      ScanBy: 'TimestampDescending',
    }),
  );
  return AlarmHistoryItems.map(({ HistoryData, HistorySummary = '' }) => ({
    outcome: parseOutcome(HistoryData, HistorySummary),
    summary: HistorySummary,
  }));
}

/**
 * Waits for a number of actions, the newest of them successful.
 * @throws CheckFailed when it fails, or none comes in time
 */
async function waitForActions(
  { clock, sleep, waitMs }: VerifyContext,
  { AlarmName }: MetricAlarm,
  actions: () => Promise<AlarmAction[]>,
  wanted: number,
): Promise<void> {
  const startedAt = clock();
  for (;;) {
    const changes = await actions();
    const [newest] = changes;
    if (newest !== undefined && changes.length >= wanted) {
      if (newest.outcome === 'failed')
        throw new CheckFailed(`${AlarmName} could not notify its topic: ${newest.summary}`);
      if (newest.outcome === 'succeeded') return;
    }
    if (clock() - startedAt >= waitMs)
      throw new CheckFailed(
        `${AlarmName} got a new state and did not notify its topic in ${waitMs / 1000} s.`,
      );
    await sleep(LOOK_AGAIN_MS);
  }
}

function parseOutcome(data: string | undefined, summary: string): AlarmAction['outcome'] {
  const { actionState } = ActionData.safeParse(parseJson(data)).data ?? {};
  if (actionState === 'Succeeded' || summary.startsWith('Successfully')) return 'succeeded';
  return actionState === 'Failed' || summary.startsWith('Failed') ? 'failed' : 'in progress';
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
