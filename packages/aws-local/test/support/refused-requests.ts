import { itemBytes } from '../../src/permissions/dynamodb-rules.ts';

/*
 * Requests to a table `things` (keys `pk` and `sk`, index `byDue` with `dueIn` and `dueAt`) and a table
 * `others` of the same shape, as sent over the network.
 */

export const TABLE = 'things';
export const OTHER_TABLE = 'others';

export type TestRequest = readonly [what: string, operation: string, body: object];

export const key = (pk = 'a', sk = 'b') => ({ pk: { S: pk }, sk: { S: sk } });
const of = (count: number) => Array.from({ length: count }, (_, index) => key('a', String(index)));
const query = (KeyConditionExpression: string, values: object) => ({
  KeyConditionExpression,
  ExpressionAttributeValues: values,
});
const update = (UpdateExpression: string, values: object) => ({
  Key: key(),
  UpdateExpression,
  ExpressionAttributeValues: values,
});
export const puts = (items: object[]) => ({
  RequestItems: { [TABLE]: items.map((Item) => ({ PutRequest: { Item } })) },
});
const gets = (Keys: object[]) => ({ RequestItems: { [TABLE]: { Keys } } });
export const transaction = (...parts: object[]) => ({ TransactItems: parts });
export const put = (Item: object) => ({ Put: { TableName: TABLE, Item } });
const sized = (bytes: number) => ({
  ...key(),
  x: { S: 'x'.repeat(bytes - itemBytes({ ...key(), x: { S: '' } })) },
});

/** Requests that DynamoDB refuses with a ValidationException, and its message. */
export const REFUSED: readonly (readonly [...TestRequest, message: RegExp])[] = [
  ['an empty partition key', 'GetItem', { Key: key('') }, /empty string value. Key: pk/],
  ['an empty sort key', 'DeleteItem', { Key: key('a', '') }, /empty string value. Key: sk/],
  ['an empty binary key', 'GetItem', { Key: { pk: { B: '' } } }, /empty binary value. Key: pk/],
  ['an item with an empty key', 'PutItem', { Item: key('a', '') }, /empty string value. Key: sk/],
  ['an item with an empty index key', 'PutItem', { Item: { ...key(), dueIn: { S: '' } } }, /IndexKey: dueIn/],
  [
    'an update that sets an index key to nothing',
    'UpdateItem',
    {
      ...update('SET x = :x, #due = :due', { ':x': { S: '' }, ':due': { S: '' } }),
      ExpressionAttributeNames: { '#due': 'dueAt' },
    },
    /IndexKey: dueAt/,
  ],
  [
    'begins_with an empty text',
    'Query',
    query('pk = :pk AND begins_with(sk, :prefix)', { ':pk': { S: 'a' }, ':prefix': { S: '' } }),
    /empty string value. Key: sk/,
  ],
  [
    'an empty end of BETWEEN',
    'Query',
    query('pk = :pk AND sk BETWEEN :a AND :b', { ':pk': { S: 'a' }, ':a': { S: '' }, ':b': { S: 'z' } }),
    /empty string value. Key: sk/,
  ],
  [
    'a BETWEEN whose ends are the wrong way round',
    'Query',
    query('pk = :pk AND sk BETWEEN :a AND :b', { ':pk': { S: 'a' }, ':a': { S: 'b' }, ':b': { S: 'a' } }),
    /upper bound/,
  ],
  ['an empty partition key of a query', 'Query', query('pk = :pk', { ':pk': { S: '' } }), /Key: pk/],
  ['an empty set', 'PutItem', { Item: { ...key(), s: { SS: [] } } }, /string set {2}may not be empty/],
  ['an empty set within a map', 'PutItem', { Item: { ...key(), m: { M: { n: { NS: [] } } } } }, /number set/],
  ['a set with a member twice', 'PutItem', { Item: { ...key(), s: { SS: ['a', 'a'] } } }, /duplicates/],
  ['an empty set in an expression', 'UpdateItem', update('SET s = :s', { ':s': { BS: [] } }), /binary set/],
  [
    'a value that nothing uses',
    'UpdateItem',
    update('SET x = :x', { ':x': { N: '1' }, ':y': { N: '1' } }),
    /unused in expressions: keys: {:y}/,
  ],
  [
    'a name that nothing uses',
    'GetItem',
    { Key: key(), ProjectionExpression: 'x', ExpressionAttributeNames: { '#x': 'x' } },
    /unused in expressions: keys: {#x}/,
  ],
  [
    'a value that is not defined',
    'UpdateItem',
    update('SET x = :y', { ':x': { N: '1' } }),
    /not defined; attribute value: :y/,
  ],
  [
    'a name that is not defined',
    'GetItem',
    { Key: key(), ProjectionExpression: '#x' },
    /not defined; attribute name: #x/,
  ],
  [
    'values without an expression',
    'PutItem',
    { Item: key(), ExpressionAttributeValues: { ':x': { N: '1' } } },
    /can only be specified when using expressions/,
  ],
  [
    'a reserved word without a placeholder',
    'UpdateItem',
    update('SET x = :x, Status = :x', { ':x': { N: '1' } }),
    /UpdateExpression: .*reserved keyword: Status/,
  ],
  [
    'a reserved word within a path',
    'GetItem',
    { Key: key(), ProjectionExpression: 'x.name' },
    /ProjectionExpression: .*reserved keyword: name/,
  ],
  ['no values', 'UpdateItem', update('REMOVE x', {}), /must not be empty/],
  ['an empty expression', 'PutItem', { Item: key(), ConditionExpression: '' }, /can not be empty/],
  [
    'an expression over 4 KB',
    'GetItem',
    { Key: key(), ProjectionExpression: 'x'.repeat(4097) },
    /expression size: 4097/,
  ],
  ['an item over 400 KB', 'PutItem', { Item: sized(409_601) }, /Item size has exceeded/],
  ['a partition key over 2,048 bytes', 'PutItem', { Item: key('x'.repeat(2049)) }, /hashkey/],
  ['a sort key over 1,024 bytes', 'PutItem', { Item: key('a', 'x'.repeat(1025)) }, /rangekey/],
  ['101 keys in a batch', 'BatchGetItem', { RequestItems: { [TABLE]: { Keys: of(101) } } }, /Too many items/],
  ['26 writes in a batch', 'BatchWriteItem', puts(of(26)), /Too many items/],
  [
    'a key twice in a batch of reads',
    'BatchGetItem',
    { RequestItems: { [TABLE]: { Keys: [key(), key()] } } },
    /duplicates/,
  ],
  [
    'an item twice in a batch of writes',
    'BatchWriteItem',
    puts([key(), { ...key(), x: { S: '1' } }]),
    /duplicates/,
  ],
  [
    'a put and a delete of one item in a batch',
    'BatchWriteItem',
    { RequestItems: { [TABLE]: [{ PutRequest: { Item: key() } }, { DeleteRequest: { Key: key() } }] } },
    /duplicates/,
  ],
  ['an empty batch', 'BatchWriteItem', puts([]), /greater than or equal to 1/],
  ['an empty batch of reads', 'BatchGetItem', gets([]), /greater than or equal to 1/],
  [
    '101 parts of a transaction',
    'TransactWriteItems',
    transaction(...of(101).map(put)),
    /less than or equal to 100/,
  ],
  [
    'two operations on one item',
    'TransactWriteItems',
    transaction(put(key()), {
      ConditionCheck: { TableName: TABLE, Key: key(), ConditionExpression: 'attribute_exists(pk)' },
    }),
    /multiple operations on one item/,
  ],
  [
    'a faulty part of a transaction',
    'TransactWriteItems',
    transaction(put(key()), put(key('', 'b'))),
    /Key: pk/,
  ],
  [
    'a sequence number that it could not issue',
    'GetShardIterator',
    { SequenceNumber: '100' },
    /between 21 and 40/,
  ],
  [
    'a page of none',
    'Query',
    { ...query('pk = :pk', { ':pk': { S: 'a' } }), Limit: 0 },
    /greater than or equal to 1/,
  ],
];

/** Requests that DynamoDB does not refuse. */
export const ACCEPTED: readonly TestRequest[] = [
  [
    'empty texts that are no keys',
    'PutItem',
    { Item: { ...key(), x: { S: '' }, b: { B: '' }, l: { L: [] }, m: { M: {} } } },
  ],
  ['an item of 400 KB', 'PutItem', { Item: sized(409_600) }],
  ['an expression of 4 KB', 'GetItem', { Key: key(), ProjectionExpression: 'x'.repeat(4096) }],
  ['a key of the longest', 'PutItem', { Item: key('x'.repeat(2048), 'x'.repeat(1024)) }],
  ['100 keys in a batch', 'BatchGetItem', { RequestItems: { [TABLE]: { Keys: of(100) } } }],
  ['25 writes in a batch', 'BatchWriteItem', puts(of(25))],
  ['100 parts of a transaction', 'TransactWriteItems', transaction(...of(100).map(put))],
  [
    'one key in two tables',
    'TransactWriteItems',
    transaction(put(key()), { Put: { TableName: OTHER_TABLE, Item: key() } }),
  ],
  [
    'an empty filter value',
    'Query',
    { ...query('pk = :pk', { ':pk': { S: 'a' }, ':x': { S: '' } }), FilterExpression: 'x = :x' },
  ],
  [
    'names and values that are used',
    'UpdateItem',
    { ...update('SET #x = :x', { ':x': { S: '' } }), ExpressionAttributeNames: { '#x': 'x' } },
  ],
  [
    'words of the expression language',
    'UpdateItem',
    {
      ...update('set x = :x remove y', { ':x': { N: '1' } }),
      ConditionExpression: 'not (size (x) in (:x) or x between :x and :x) and #name = :x',
      ExpressionAttributeNames: { '#name': 'name' },
    },
  ],
  [
    'names that begin with another',
    'UpdateItem',
    {
      ...update('SET #x = :x, #xy = :xy', { ':x': { S: '' }, ':xy': { S: '' } }),
      ExpressionAttributeNames: { '#x': 'x', '#xy': 'y' },
    },
  ],
  ['its own sequence numbers', 'GetShardIterator', { SequenceNumber: '111111111111111111111' }],
];
