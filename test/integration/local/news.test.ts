import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { watchChanges } from '../../../lib/local/sources/news.ts';
import { temporaryDirectory } from './temporary-directory.ts';

it('tells each reader of every commit of another connection', async () => {
  const file = join(temporaryDirectory(), 'engine.sqlite');
  const engine = new DatabaseSync(file);
  engine.exec('PRAGMA journal_mode = WAL; CREATE TABLE records (number INTEGER)');
  const watch = watchChanges(file);
  onTestFinished(() => {
    watch.close();
    engine.close();
  });
  const never = new AbortController().signal;
  const readers = [watch.reader(), watch.reader()];
  await Promise.all(readers.map((untilNews) => untilNews(never)));

  for (let number = 1; number <= 3; number += 1) {
    const news = readers.map((untilNews) => untilNews(never).then(() => number));
    engine.exec(`INSERT INTO records VALUES (${number})`);
    expect(await Promise.all(news)).toEqual([number, number]);
  }
});

it('stops waiting with the signal', async () => {
  const file = join(temporaryDirectory(), 'engine.sqlite');
  const engine = new DatabaseSync(file);
  engine.exec('CREATE TABLE records (number INTEGER)');
  const watch = watchChanges(file);
  onTestFinished(() => {
    watch.close();
    engine.close();
  });
  const untilNews = watch.reader();
  const stopping = new AbortController();
  await untilNews(stopping.signal);
  const waiting = untilNews(stopping.signal);
  stopping.abort();
  await waiting;
});
