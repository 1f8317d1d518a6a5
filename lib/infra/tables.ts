import { RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as kms from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { DUE_INDEX } from '../../functions/tenancy/keys.ts';
import { OF_SANDBOX_INDEX } from '../../functions/tenancy/purge.ts';
import type { GrantedResource } from './grants/resource.ts';
import { ServiceStack } from './stacks/service-stack.ts';

interface DataTableProps extends Pick<dynamodb.TablePropsV2, 'sortKey' | 'globalSecondaryIndexes'> {
  partitionKey: string;
  stream?: dynamodb.StreamViewType;
  encryptionKey: kms.IKey | undefined;
  /** May contain sandbox data, which a purge finds by an index without live rows. */
  ofSandbox?: true;
  /**
   * Counts of a minute, schedules that are rebuilt and last uses of API keys: neither backed up nor kept when
   * the stack is deleted.
   */
  ephemeral?: true;
}

const OF_SANDBOX: dynamodb.GlobalSecondaryIndexPropsV2 = {
  indexName: OF_SANDBOX_INDEX,
  partitionKey: { name: 'ofSandbox', type: dynamodb.AttributeType.STRING },
  projectionType: dynamodb.ProjectionType.KEYS_ONLY,
};

/** The index of due rows: sparse, because only these have its attributes. */
const dueIndex = (sortKey: string, nonKeyAttributes: string[]): dynamodb.GlobalSecondaryIndexPropsV2 => ({
  indexName: DUE_INDEX,
  partitionKey: { name: 'dueIn', type: dynamodb.AttributeType.STRING },
  sortKey: { name: sortKey, type: dynamodb.AttributeType.STRING },
  projectionType: dynamodb.ProjectionType.INCLUDE,
  nonKeyAttributes,
});

/**
 * A table with the service's defaults: on demand and encrypted; recoverable and retained if the stage keeps
 * data.
 */
export class DataTable extends Construct implements GrantedResource {
  readonly table: dynamodb.TableV2;

  constructor(scope: Construct, id: string, props: DataTableProps) {
    super(scope, id);
    const { policy, removal } = ServiceStack.of(this);
    const isKept = props.ephemeral === undefined && policy.keepsData;
    const { encryptionKey: key } = props;
    // A `Table` could not become a table of several regions later: it would be replaced.
    this.table = new dynamodb.TableV2(this, 'Table', {
      partitionKey: { name: props.partitionKey, type: dynamodb.AttributeType.STRING },
      ...(props.sortKey === undefined ? {} : { sortKey: props.sortKey }),
      ...(props.stream === undefined ? {} : { dynamoStream: props.stream }),
      globalSecondaryIndexes: [
        ...(props.ofSandbox ? [OF_SANDBOX] : []),
        ...(props.globalSecondaryIndexes ?? []),
      ],
      billing: dynamodb.Billing.onDemand(),
      timeToLiveAttribute: 'expiresAt',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: isKept },
      deletionProtection: isKept,
      removalPolicy: props.ephemeral ? RemovalPolicy.DESTROY : removal,
      encryption: key
        ? dynamodb.TableEncryptionV2.awsManagedKey()
        : dynamodb.TableEncryptionV2.dynamoOwnedKey(),
    });
    // The CDK names another key than AWS's only where it knows the region.
    const { defaultChild } = this.table.node;
    if (key && defaultChild instanceof dynamodb.CfnGlobalTable)
      defaultChild.addPropertyOverride('Replicas.0.SSESpecification.KMSMasterKeyId', key.keyArn);
  }

  get name(): string {
    return this.table.tableName;
  }

  get environmentValue(): string {
    return this.name;
  }

  /** ARN of the table, or of the index in `part`. */
  arnsOf(part?: string): string[] {
    return [part === undefined ? this.table.tableArn : `${this.table.tableArn}/${part}`];
  }

  /** @throws Error when the table has no stream */
  get streamArn(): string {
    const { tableStreamArn } = this.table;
    if (tableStreamArn === undefined) throw new Error(`${this.node.path} has no stream`);
    return tableStreamArn;
  }

  /** The stream, for a function that rereads records which another's mapping gave up. */
  get stream(): GrantedResource {
    return { environmentValue: this.streamArn, arnsOf: () => [this.streamArn] };
  }
}

/**
 * The tables (docs/architecture.md, Tables and access patterns). Rate windows are separate, so that a flood
 * of requests throttles nothing else, and read-only functions need no permission to change the service's
 * data.
 */
export class Tables extends Construct {
  readonly service: DataTable;
  readonly outbox: DataTable;
  readonly deliveries: DataTable;
  readonly rates: DataTable;
  readonly ledger: DataTable;
  readonly knowledge: DataTable;
  readonly usage: DataTable;
  readonly mailings: DataTable;

  constructor(scope: Construct, id: string, encryptionKey: kms.IKey | undefined) {
    super(scope, id);
    const partitionKey = 'pk';
    const sortKey = { name: 'sk', type: dynamodb.AttributeType.STRING };
    const simple = { partitionKey, encryptionKey };
    const many = { ...simple, sortKey };
    this.service = new DataTable(this, 'Service', { ...many, ofSandbox: true });
    this.outbox = new DataTable(this, 'Outbox', {
      ...many,
      stream: dynamodb.StreamViewType.NEW_IMAGE,
      ofSandbox: true,
    });
    this.deliveries = new DataTable(this, 'Deliveries', {
      ...many,
      stream: dynamodb.StreamViewType.NEW_IMAGE,
      ofSandbox: true,
      // Contains a whole delivery message, so that sending one reads no row.
      globalSecondaryIndexes: [
        dueIndex('dueKey', ['orgId', 'generation', 'webhookId', 'eventId', 'isDeferred']),
      ],
    });
    this.ledger = new DataTable(this, 'Ledger', { ...many, ofSandbox: true });
    this.knowledge = new DataTable(this, 'Knowledge', {
      ...many,
      ofSandbox: true,
      // Contains sources with their check messages, but not versions.
      globalSecondaryIndexes: [dueIndex('dueAt', ['orgId', 'generation'])],
    });
    // Without sandbox data: its writers reject sandboxes.
    this.usage = new DataTable(this, 'Usage', many);
    this.mailings = new DataTable(this, 'Mailings', simple);
    this.rates = new DataTable(this, 'Rates', { ...simple, ephemeral: true });
  }
}
