import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { REGION } from 'aws-local/arns.ts';
import { CREDENTIALS } from 'aws-local/engines/engines.ts';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { OrgId } from '../../../../functions/aws/ids.ts';
import { keys } from '../../../../functions/tenancy/keys.ts';
import { startReceiver } from '../../../../packages/cli/src/receiver/receiver.ts';
import type { LocalService } from '../a-service.ts';
import { ok } from '../receivers.ts';
import { type OperatorOutputs, verify } from '../verify/verification.ts';

const Report = z.object({
  passed: z.boolean(),
  interrupted: z.boolean(),
  milliseconds: z.number(),
  checks: z.array(z.object({ name: z.string(), status: z.string(), detail: z.string() })),
});

/** The verification of a deployment, against a working local run. */
export function verification(service: LocalService): void {
  it('passes with and without a receiver, lists what a local run lacks, and leaves no key or endpoint', async () => {
    const receiver = await startReceiver({ ...service.run.tls, respond: ok });
    onTestFinished(receiver.stop);
    const run = await verify(service.run.directory, {
      args: ['--json', '--receiver', `${receiver.url}/hooks`],
    });
    expect([run.code, run.errors]).toEqual([0, '']);
    const report = Report.parse(JSON.parse(run.output));
    process.stdout.write(`verified in ${report.milliseconds} ms\n`);
    expect(report).toMatchObject({ passed: true, interrupted: false });
    expect(report.checks.filter(({ status }) => status !== 'passed')).toMatchObject([
      { name: 'Alarm subscriptions', status: 'skipped', detail: 'the stage has no alarms' },
      { name: 'Ring an alarm', status: 'skipped', detail: 'not there locally: CloudWatch' },
    ]);
    const made = ['Make an organization', 'Make its sandbox'].map((name) =>
      OrgId.parse(report.checks.find((check) => check.name === name)?.detail),
    );
    const { endpoints, outputs }: OperatorOutputs = JSON.parse(
      await readFile(join(service.run.directory, 'outputs.json'), 'utf8'),
    );
    const dynamodb = new DynamoDBClient({
      region: REGION,
      endpoint: endpoints.dynamodb ?? '',
      credentials: CREDENTIALS,
    });
    onTestFinished(() => dynamodb.destroy());
    const rowsAt = async (pk: string) => {
      const query = new QueryCommand({
        TableName: outputs.TableService,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
      });
      return (await DynamoDBDocumentClient.from(dynamodb).send(query)).Items ?? [];
    };
    for (const id of made) {
      for (const pk of [keys.apiKeys(id), keys.endpoints(id), keys.channels(id)])
        expect([pk, await rowsAt(pk)]).toEqual([pk, []]);
      // The organization's row stays for messages in flight, and expires.
      const rows = await rowsAt(id);
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) expect(row).toHaveProperty('expiresAt');
    }
  });
}
