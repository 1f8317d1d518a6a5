import {
  type CloudWatchClient,
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
  type MetricAlarm,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import * as z from 'zod';
import { type Check, CheckFailed, CheckSkipped } from '../check.ts';
import type { VerifyContext } from '../context.ts';

const REASON = 'npm run verify: a test, nothing is wrong';
const LOOK_AGAIN_MS = 1_000;
/** The first alarm of these names is taken; CodeDeploy rolls back a deployment when one of `Delivery…` rings. */
const PREFERRED = /MeterDead/;
const UNSAFE = /-Delivery|Workers-?Delivery/;

const Action = z.object({ actionState: z.string(), notificationResource: z.string().optional() });

export const alarmChecks = (context: VerifyContext): Check[] => [
  {
    name: 'Ring an alarm',
    run() {
      const { cloudWatch } = context.clients;
      if (cloudWatch === undefined) throw new CheckSkipped('not there locally: CloudWatch');
      return ring(cloudWatch, context);
    },
  },
];

/**
 * Sets an alarm to ALARM and back to OK, and waits until CloudWatch has notified the topic of both.
 * @throws CheckFailed when the topic refuses a notification, or none is sent in time
 */
async function ring(client: CloudWatchClient, context: VerifyContext): Promise<string> {
  const { removals, place } = context;
  const topic = place.outputs.AlarmTopicArn;
  if (topic === undefined) throw new CheckFailed('The outputs have no AlarmTopicArn.');
  const alarms = await listAlarms(client, topic, `ConversationService-${stageOf(context)}-`);
  if (alarms.length === 0) throw new CheckFailed(`No alarm of the deployment notifies ${topic}.`);
  const acting = alarms.filter(({ ActionsEnabled }) => ActionsEnabled);
  if (acting.length === 0) throw new CheckSkipped('the alarms of this stage do not act');
  const alarm = chooseAlarm(acting);
  if (alarm?.AlarmName === undefined) throw new CheckSkipped('no alarm is OK that may ring for a test');
  const { AlarmName } = alarm;
  const set = (StateValue: 'ALARM' | 'OK') =>
    client.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason: REASON }));
  removals.add(`the test of ${AlarmName}`, async () => void (await set('OK')));
  const since = context.now();
  await set('ALARM');
  await notified(client, context, AlarmName, topic, since, 1);
  await set('OK');
  await notified(client, context, AlarmName, topic, since, 2);
  return `${AlarmName} notified the topic of ALARM and OK`;
}

const stageOf = ({ place }: VerifyContext): string =>
  /^conversation-service-(.+)-enrol$/.exec(place.outputs.EnrolFunctionName ?? '')?.[1] ?? '';

async function listAlarms(client: CloudWatchClient, topic: string, AlarmNamePrefix: string) {
  const all: MetricAlarm[] = [];
  let NextToken: string | undefined;
  do {
    const page = await client.send(
      new DescribeAlarmsCommand({
        AlarmNamePrefix,
        AlarmTypes: ['MetricAlarm'],
        ...(NextToken && { NextToken }),
      }),
    );
    all.push(...(page.MetricAlarms ?? []));
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
  return all.filter(({ AlarmActions = [] }) => AlarmActions.includes(topic));
}

/** An alarm that is OK and by which no deployment is rolled back. */
export function chooseAlarm(alarms: readonly MetricAlarm[]): MetricAlarm | undefined {
  const safe = alarms.filter(
    ({ StateValue, AlarmName = '', OKActions = [] }) =>
      StateValue === 'OK' && OKActions.length > 0 && !UNSAFE.test(AlarmName),
  );
  return safe.find(({ AlarmName = '' }) => PREFERRED.test(AlarmName)) ?? safe[0];
}

/** Waits until the alarm's history has so many actions that the topic accepted. */
async function notified(
  client: CloudWatchClient,
  { sleep, waitMs }: VerifyContext,
  AlarmName: string,
  topic: string,
  since: Date,
  wanted: number,
): Promise<void> {
  for (let waited = 0; ; waited += LOOK_AGAIN_MS) {
    const { AlarmHistoryItems = [] } = await client.send(
      new DescribeAlarmHistoryCommand({ AlarmName, HistoryItemType: 'Action', StartDate: since }),
    );
    const outcomes = AlarmHistoryItems.map(({ HistoryData, HistorySummary }) => ({
      state: actionState(HistoryData),
      summary: HistorySummary ?? 'no summary',
    }));
    const failed = outcomes.find(({ state }) => state !== 'Succeeded' && state !== 'InProgress');
    if (failed !== undefined)
      throw new CheckFailed(`${AlarmName} could not notify ${topic}: ${failed.summary}.`);
    if (outcomes.filter(({ state }) => state === 'Succeeded').length >= wanted) return;
    if (waited >= waitMs)
      throw new CheckFailed(
        `${AlarmName} was set to a new state and did not notify ${topic} in ${waitMs / 1000} s.`,
      );
    await sleep(LOOK_AGAIN_MS);
  }
}

function actionState(data: string | undefined): string {
  try {
    return Action.safeParse(JSON.parse(data ?? '')).data?.actionState ?? 'unknown';
  } catch {
    return 'unknown';
  }
}
