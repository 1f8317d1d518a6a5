import { CreateTableCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { watchChanges } from '../../src/sources/change-signals.ts';
import { start } from './contract-table.ts';
import { stateDirectory } from './state-directory.ts';

async function anEngine() {
  const { engine, client } = await start(stateDirectory());
  for (const TableName of ['Orders', 'Customers'])
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
      }),
    );
  const watch = watchChanges(engine);
  onTestFinished(() => watch.close());
  let number = 0;
  return {
    watch,
    async write(TableName: string): Promise<void> {
      number += 1;
      await client.send(new PutItemCommand({ TableName, Item: { pk: { S: String(number) } } }));
    },
  };
}

it("the engine's change signal reports every record of a table's stream to each reader", async () => {
  const { watch, write } = await anEngine();
  const never = new AbortController().signal;
  const readers = [watch.reader('Orders'), watch.reader('Orders')];
  // Enough that the numbers as texts sort differently.
  for (let number = 1; number <= 12; number += 1) {
    const news = readers.map((waitForChange) => waitForChange(never).then(() => number));
    await write('Orders');
    expect(await Promise.all(news)).toEqual([number, number]);
  }
});

it("the engine's change signal does not wake a reader of another table", async () => {
  const { watch, write } = await anEngine();
  const never = new AbortController().signal;
  const orders = watch.reader('Orders');
  const customers = watch.reader('Customers');
  await write('Orders');
  await write('Customers');
  await Promise.all([orders(never), customers(never)]);
  const reported: string[] = [];
  const sleeping = orders(never).then(() => reported.push('Orders'));
  for (let number = 1; number <= 3; number += 1) {
    await write('Customers');
    await customers(never);
    reported.push('Customers');
  }
  await write('Orders');
  await sleeping;
  expect(reported).toEqual(['Customers', 'Customers', 'Customers', 'Orders']);
});

it("the engine's change signal stops waiting when it is aborted", async () => {
  const { watch, write } = await anEngine();
  const waitForChange = watch.reader('Orders');
  const stopping = new AbortController();
  await write('Orders');
  await waitForChange(stopping.signal);
  const waiting = waitForChange(stopping.signal);
  stopping.abort();
  await waiting;
});
