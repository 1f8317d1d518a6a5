import { RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';

/** What a function may do with a table, in the words of what it does. */
const VERBS = {
  read: ['dynamodb:GetItem'],
  readMany: ['dynamodb:BatchGetItem', 'dynamodb:GetItem'],
  list: ['dynamodb:Query'],
  add: ['dynamodb:PutItem'],
  change: ['dynamodb:UpdateItem'],
  remove: ['dynamodb:DeleteItem'],
} as const;
export type TableVerb = keyof typeof VERBS;

/** A table of ours: on demand, recoverable to any second of the last 35 days, kept when the stack goes. */
export class DataTable extends Construct {
  readonly table: dynamodb.Table;

  constructor(
    scope: Construct,
    id: string,
    props: Pick<dynamodb.TableProps, 'sortKey' | 'stream'> & { partitionKey: string },
  ) {
    super(scope, id);
    this.table = new dynamodb.Table(this, 'Table', {
      partitionKey: { name: props.partitionKey, type: dynamodb.AttributeType.STRING },
      ...(props.sortKey === undefined ? {} : { sortKey: props.sortKey }),
      ...(props.stream === undefined ? {} : { stream: props.stream }),
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: 'expiresAt',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  get name(): string {
    return this.table.tableName;
  }

  /** Grants just the actions that the verbs stand for, on this table alone. */
  allow(grantee: IGrantable, ...verbs: TableVerb[]): void {
    this.table.grant(grantee, ...new Set(verbs.flatMap((verb) => VERBS[verb])));
  }
}

/** The three tables (architecture.md, Tables). */
export class Tables extends Construct {
  readonly service: DataTable;
  readonly outbox: DataTable;
  readonly deliveries: DataTable;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const sortKey = { name: 'sk', type: dynamodb.AttributeType.STRING };
    this.service = new DataTable(this, 'Service', { partitionKey: 'pk', sortKey });
    this.outbox = new DataTable(this, 'Outbox', {
      partitionKey: 'pk',
      stream: dynamodb.StreamViewType.NEW_IMAGE,
    });
    this.deliveries = new DataTable(this, 'Deliveries', { partitionKey: 'pk', sortKey });
  }
}
