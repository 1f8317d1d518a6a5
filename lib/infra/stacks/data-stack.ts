import type * as sns from 'aws-cdk-lib/aws-sns';
import { deriveAttemptClocks } from '../../../functions/delivery/timing.ts';
import { AlarmTopic } from '../alarms.ts';
import { BusQueues } from '../bus.ts';
import { encryptionKey } from '../encryption.ts';
import { Identity } from '../identity.ts';
import { KeyringSecret } from '../keyrings.ts';
import { DeliveryQueues } from '../lanes.ts';
import type { Settings } from '../settings.ts';
import { Tables } from '../tables.ts';
import { type Common, ServiceStack, type StageStack } from './service-stack.ts';

/** All data. Outlives the other stacks and contains no function. */
export class DataStack extends ServiceStack {
  readonly tables: Tables;
  readonly signingKeys: KeyringSecret;
  readonly cursorKeys: KeyringSecret;
  readonly identity: Identity;
  readonly deliveryQueues: DeliveryQueues;
  readonly bus: BusQueues;
  readonly common: Common;

  constructor(stage: StageStack, settings: Settings) {
    super(stage, 'Data', 'what holds data, and the keys by which it is encrypted');
    const key = encryptionKey(this, 'Key', settings.keyArn);
    const alarmTopic: sns.ITopic | undefined = stage.policy.alarms
      ? new AlarmTopic(this, 'Alarms', key, settings).topic
      : undefined;
    const { runbookUrl: runbooks, encryptEnvironment: encryptsEnvironment } = settings;
    this.common = { key, encryptsEnvironment, alarmTopic, runbooks };
    this.tables = new Tables(this, 'Tables', key);
    this.signingKeys = new KeyringSecret(this, 'SigningKeys', {
      description: 'Master keys of the webhook signing secrets',
      key,
    });
    this.cursorKeys = new KeyringSecret(this, 'CursorKeys', {
      description: 'Keys that seal pagination cursors',
      key,
    });
    this.identity = new Identity(this, 'Identity', settings);
    this.deliveryQueues = new DeliveryQueues(this, 'Delivery', {
      clocks: deriveAttemptClocks(settings.attemptTimeoutSeconds),
      key,
    });
    this.bus = new BusQueues(this, 'Bus', key);

    const { pool } = this.identity;
    if (pool) this.output('UserPoolId', pool.userPoolId);
    if (alarmTopic) this.output('AlarmTopicArn', alarmTopic.topicArn);
  }
}
