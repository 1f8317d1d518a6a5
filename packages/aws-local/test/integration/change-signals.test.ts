import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { watchChanges } from '../../src/sources/change-signals.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Where the engine keeps the records of streams. */
const RECORDS = 'CREATE TABLE _stream_records (table_name TEXT, sequence_number TEXT)';

function anEngine() {
  const file = join(temporaryDirectory(), 'engine.sqlite');
  const engine = new DatabaseSync(file);
  engine.exec(`PRAGMA journal_mode = WAL; ${RECORDS}`);
  const watch = watchChanges(file);
  onTestFinished(() => {
    watch.close();
    engine.close();
  });
  let number = 0;
  return {
    watch,
    write(table: string): void {
      number += 1;
      engine.prepare('INSERT INTO _stream_records VALUES (?, ?)').run(table, String(number));
    },
  };
}

it("the engine's change signal reports every record of a table's stream to each reader", async () => {
  const { watch, write } = anEngine();
  const never = new AbortController().signal;
  const readers = [watch.reader('Orders'), watch.reader('Orders')];
  // Enough that the numbers as texts sort differently.
  for (let number = 1; number <= 12; number += 1) {
    const news = readers.map((waitForChange) => waitForChange(never).then(() => number));
    write('Orders');
    expect(await Promise.all(news)).toEqual([number, number]);
  }
});

it("the engine's change signal does not wake a reader of another table", async () => {
  const { watch, write } = anEngine();
  const never = new AbortController().signal;
  const orders = watch.reader('Orders');
  const customers = watch.reader('Customers');
  write('Orders');
  write('Customers');
  await Promise.all([orders(never), customers(never)]);
  const reported: string[] = [];
  const sleeping = orders(never).then(() => reported.push('Orders'));
  for (let number = 1; number <= 3; number += 1) {
    write('Customers');
    await customers(never);
    reported.push('Customers');
  }
  write('Orders');
  await sleeping;
  expect(reported).toEqual(['Customers', 'Customers', 'Customers', 'Orders']);
});

it("the engine's change signal stops waiting when it is aborted", async () => {
  const { watch, write } = anEngine();
  const waitForChange = watch.reader('Orders');
  const stopping = new AbortController();
  write('Orders');
  await waitForChange(stopping.signal);
  const waiting = waitForChange(stopping.signal);
  stopping.abort();
  await waiting;
});
