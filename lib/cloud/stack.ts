import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { EnrolEnvironment } from '../../functions/platform/config.ts';
import { Api } from './api.ts';
import { Bus } from './bus.ts';
import { Channels } from './channels.ts';
import { Delivery } from './delivery.ts';
import { Documentation } from './documentation.ts';
import { Identity } from './identity.ts';
import { KeyringSecret } from './keyrings.ts';
import { Knowledge } from './knowledge.ts';
import { Mail } from './mail.ts';
import { Metering } from './metering.ts';
import { Recovery } from './recovery.ts';
import { Sandboxes } from './sandboxes.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import { Tables } from './tables.ts';

/** The Conversation Service API: what it is made of, and nothing of how. */
export class ConversationServiceStack extends Stack {
  readonly tables: Tables;
  readonly api: Api;
  readonly delivery: Delivery;
  readonly bus: Bus;

  constructor(scope: Construct, id: string, props: StackProps & { settings: Settings; code: CodeOf }) {
    super(scope, id, props);
    const { code, settings } = props;
    const tables = new Tables(this, 'Tables');
    const signingKeys = new KeyringSecret(this, 'SigningKeys', 'Master keys of the webhook signing secrets');
    const cursorKeys = new KeyringSecret(this, 'CursorKeys', 'Keys that seal pagination cursors');

    this.tables = tables;
    const identity = new Identity(this, 'Identity', settings);
    this.api = new Api(this, 'Api', { code, tables, signingKeys, cursorKeys, identity, settings });
    new Documentation(this, 'Documentation', { code, api: this.api.rest });
    this.delivery = new Delivery(this, 'Delivery', { code, tables, signingKeys, settings });
    this.bus = new Bus(this, 'Bus', { code, tables });
    new Metering(this, 'Metering', { code, tables, bus: this.bus });
    new Channels(this, 'Channels', { code, tables, bus: this.bus });
    new Knowledge(this, 'Knowledge', { code, tables, bus: this.bus, settings });
    const { mailFrom: from, dashboardOrigin, noticeSeconds } = settings;
    // The settings have all of them where they have a sender.
    if (from !== undefined && dashboardOrigin !== undefined && identity.pool !== undefined)
      new Mail(this, 'Mail', {
        code,
        tables,
        bus: this.bus,
        users: identity.pool,
        from,
        dashboardOrigin,
        noticeSeconds,
      });
    new Sandboxes(this, 'Sandboxes', { code, tables, settings });
    new Recovery(this, 'Recovery', { code, tables, delivery: this.delivery, settings });

    const enrol = new ServiceFunction(this, 'Enrol', {
      name: 'enrol',
      description: 'Makes an organization with its first API key; invoked by an operator',
      code,
      timeoutSeconds: 10,
      environment: { SERVICE_TABLE: tables.service.name } satisfies EnrolEnvironment,
    });
    tables.service.allow(enrol, 'add');

    new CfnOutput(this, 'ApiUrl', { value: this.api.rest.url, description: 'Public routes are below v1/' });
    new CfnOutput(this, 'EnrolFunctionName', { value: enrol.functionName });
    if (identity.pool) new CfnOutput(this, 'UserPoolId', { value: identity.pool.userPoolId });
  }
}
