import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  affected,
  type Graph,
  lambdaMetric,
  perFunction,
  queueGraphs,
  reasons,
  stuck,
  units,
  work,
} from './board-graphs.ts';
import { METHOD_NOT_ALLOWED, SERVED } from './served-methods.ts';
import { ServiceStack } from './stacks/service-stack.ts';

const { Stats } = cloudwatch;
/** Columns of a dashboard. */
const WIDTH = 24;
/** Graphs per row. */
const IN_A_ROW = 4;

export interface OperationsBoardProps {
  queues: readonly sqs.Queue[];
  tables: readonly { label: string; name: string }[];
  /** Functions without a route. */
  workers: readonly string[];
  streamReaders: readonly string[];
}

/**
 * Dashboard for an operator on call, from top to bottom: effect on customers, stuck deliveries, causes, cost.
 * Refers to functions and the API by name, so that this stack does not depend on theirs.
 */
export class OperationsBoard extends Construct {
  private readonly board: cloudwatch.Dashboard;

  constructor(
    scope: Construct,
    id: string,
    { queues, tables, workers, streamReaders }: OperationsBoardProps,
  ) {
    super(scope, id);
    const stack = ServiceStack.of(this);
    this.board = new cloudwatch.Dashboard(this, 'Board', {
      dashboardName: `ConversationService-${stack.policy.stage}-${stack.region}`,
      defaultInterval: Duration.hours(3),
      periodOverride: cloudwatch.PeriodOverride.AUTO,
    });
    const nameOf = (name: string) => stack.functionName(name);
    const routed = [...new Set([...SERVED.map(({ name }) => name), METHOD_NOT_ALLOWED])];
    this.heading(
      `# Conversation Service, ${stack.policy.stage}`,
      startingPoints(stack.common.runbooks, stack.policy.stage),
    );
    this.row('## Are customers affected?', affected(this));
    this.row('## Where is it stuck?', [
      ...queueGraphs(queues),
      {
        title: 'How far readers of streams are behind (ms)',
        metrics: streamReaders.map((name) => lambdaMetric('IteratorAge', nameOf(name), name, Stats.MAXIMUM)),
      },
      ...stuck(this),
    ]);
    this.row('## Why?', [
      ...perFunction('Errors', 'Errors of workers', workers, nameOf),
      ...perFunction('Errors', 'Errors of routes', routed, nameOf),
      ...perFunction('Throttles', 'Throttled workers', workers, nameOf),
      ...perFunction('Throttles', 'Throttled routes', routed, nameOf),
      ...reasons(this),
    ]);
    this.row('## What does it cost?', [
      ...perFunction('Invocations', 'Invocations of workers', workers, nameOf),
      ...perFunction('Invocations', 'Invocations of routes', routed, nameOf),
      ...perFunction('Duration', 'Duration of workers (ms in all)', workers, nameOf),
      { title: 'Units read', metrics: tables.map((table) => units('ConsumedReadCapacityUnits', table)) },
      { title: 'Units written', metrics: tables.map((table) => units('ConsumedWriteCapacityUnits', table)) },
      ...work(this),
    ]);
  }

  private heading(...lines: string[]): void {
    this.board.addWidgets(
      new cloudwatch.TextWidget({
        markdown: lines.join('\n\n'),
        width: WIDTH,
        height: lines.length > 1 ? 4 : 1,
      }),
    );
  }

  private row(title: string, graphs: readonly Graph[]): void {
    this.heading(title);
    this.board.addWidgets(
      ...graphs.map(
        ({ title: name, metrics, line }) =>
          new cloudwatch.GraphWidget({
            title: name,
            width: WIDTH / IN_A_ROW,
            left: metrics,
            leftYAxis: { min: 0 },
            ...(line === undefined ? {} : { leftAnnotations: [line] }),
          }),
      ),
    );
  }
}

/** Links to docs/runbooks, if they are on the web. */
function startingPoints(runbooks: string, stage: string): string {
  const pages = [
    'README',
    'backlog',
    'dead-letters',
    'endpoint-storm',
    'ledger',
    'api',
    'background',
    'limits',
  ];
  const linked = pages.map((page) =>
    runbooks.startsWith('https:') ? `[${page}](${runbooks}/${page}.md)` : `${runbooks}/${page}.md`,
  );
  return `Runbooks: ${linked.join(' · ')}\n\nFirst look: \`npm run operate -- status --stage ${stage}\``;
}
