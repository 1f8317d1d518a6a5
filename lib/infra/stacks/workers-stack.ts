import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { EnrolEnvironment } from '../../../functions/workers/enrol.ts';
import { Bus } from '../bus.ts';
import { Delivery } from '../delivery.ts';
import { Egress } from '../egress.ts';
import { STREAM_SOURCE } from '../event-sources.ts';
import type { EnvironmentOf } from '../grants/resource.ts';
import { Knowledge } from '../knowledge.ts';
import { Mail } from '../mail.ts';
import { Metering } from '../metering.ts';
import { OperationsBoard } from '../operations-board.ts';
import { Recovery } from '../recovery.ts';
import { Redeliveries } from '../redeliveries.ts';
import { Sandboxes } from '../sandboxes.ts';
import { type CodeOf, ServiceFunction } from '../service-function.ts';
import type { Settings } from '../settings.ts';
import { DataTable } from '../tables.ts';
import type { DataStack } from './data-stack.ts';
import { type Common, ServiceStack, type StageStack } from './service-stack.ts';

/** The delivery engine and the workers behind the bus, with their alarms. */
export class WorkersStack extends ServiceStack {
  readonly common: Common;
  readonly delivery: Delivery;

  constructor(stage: StageStack, data: DataStack, { settings, code }: { settings: Settings; code: CodeOf }) {
    super(stage, 'Workers', 'delivery engine and background workers');
    this.common = data.common;
    if (settings.fixedEgress) this.common = { ...data.common, network: new Egress(this, 'Egress') };
    const { tables, bus } = data;
    this.delivery = new Delivery(this, 'Delivery', { code, data, settings });
    new Bus(this, 'Bus', { code, tables, bus });
    new Metering(this, 'Metering', { code, tables, bus });
    new Redeliveries(this, 'Redeliveries', { code, data, settings });
    const { mailFrom: from, dashboard, noticeSeconds, mailLimits } = settings;
    const users = data.identity.pool;
    // With a sender, all of these settings are present.
    if (from !== undefined && dashboard !== undefined && users !== undefined) {
      const { origin: dashboardOrigin } = dashboard;
      new Mail(this, 'Mail', { code, tables, bus, users, from, dashboardOrigin, noticeSeconds, mailLimits });
    }
    new Knowledge(this, 'Knowledge', { code, tables, bus, settings });
    new Sandboxes(this, 'Sandboxes', { code, tables, settings });
    new Recovery(this, 'Recovery', { code, data, delivery: this.delivery, settings });

    const enrol = new ServiceFunction(this, 'Enrol', {
      name: 'enrol',
      description: 'Makes an organization with its first API key; invoked by an operator',
      code,
      timeoutSeconds: 10,
      environment: { SERVICE_TABLE: tables.service } satisfies EnvironmentOf<typeof EnrolEnvironment>,
    });
    this.output('EnrolFunctionName', enrol.functionName);
    if (stage.policy.alarms) this.addBoard(data);
  }

  /** Searches the stack, so that a new queue, table or worker needs no change here. */
  private addBoard(data: DataStack): void {
    const held = data.node.findAll();
    const functions = this.node.findAll().filter((construct) => construct instanceof ServiceFunction);
    new OperationsBoard(this, 'Dashboard', {
      queues: held.filter((construct) => construct instanceof sqs.Queue),
      tables: held
        .filter((construct) => construct instanceof DataTable)
        .map(({ node, name }) => ({ label: node.id, name })),
      workers: functions.map(({ serves }) => serves),
      streamReaders: functions.filter(readsStream).map(({ serves }) => serves),
    });
  }
}

const readsStream = ({ node }: ServiceFunction): boolean =>
  node.children.some(
    (child) => child instanceof lambda.EventSourceMapping && child.node.id === STREAM_SOURCE,
  );
