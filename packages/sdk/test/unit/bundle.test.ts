import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Client, ItemOf } from '../../src/index.ts';
import type { ReceivedEvent } from '../../src/receiver/index.ts';
import { ROUTES } from '../../src/routes.gen.ts';
import { writeRoutes } from '../routes.ts';
import { listMethods, writeCoveragePage } from '../surface.ts';

const KIB = 1024;

const bundleOf = async (code: string): Promise<Uint8Array> => {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: join(import.meta.dirname, '../../src'), loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
};

describe('what a browser or an edge function loads', () => {
  it.each([
    ['the verifier', "export { verify } from './receiver/index.ts';", 8],
    ['the widget', "export { createWidget } from './widget.ts';", 8],
  ])('is at most so many KiB compressed, and needs nothing of Node: %s', async (_, code, limit) => {
    expect(gzipSync(await bundleOf(code)).length / KIB).toBeLessThan(limit);
  });
});

const SDK = join(import.meta.dirname, '../..');
const DOCS = join(SDK, '../../docs');

describe('the client', () => {
  it('has the route of every operation of the document: npm run generate -- sdk', () => {
    expect(readFileSync(join(SDK, 'src/routes.gen.ts'), 'utf8')).toBe(writeRoutes());
  });

  it('has a method for every operation, and one operation for every method', () => {
    const methods = listMethods();
    const called = new Set(methods.map(({ operation }) => operation));
    expect(Object.keys(ROUTES).filter((operation) => !called.has(operation as never))).toEqual([]);
    // Two lists can be followed as well.
    expect(methods.length).toBe(called.size + 2);
  });

  it('is described by the reference page: npm run generate -- sdk', () => {
    expect(readFileSync(join(DOCS, 'reference/typescript-client.md'), 'utf8')).toBe(writeCoveragePage());
  });
});

/* What does not compile is as much a promise as what does: `npm run lint` compiles this file. */
describe('types', () => {
  it('narrow the data of an event by its type', () => {
    const read = (event: ReceivedEvent): string | undefined => {
      if (event.type === 'message.received') return event.data.messageId;
      if (event.type === 'ticket.created') {
        // @ts-expect-error a ticket has no message
        return event.data.messageId;
      }
      // @ts-expect-error an unknown type, such as a misspelled one
      return event.type === 'message.recieved' ? event.id : undefined;
    };
    expectTypeOf(read).returns.toEqualTypeOf<string | undefined>();
    expectTypeOf<ReceivedEvent<'ticket.created'>['type']>().toEqualTypeOf<'ticket.created'>();
    expectTypeOf<ReceivedEvent['schemaVersion']>().toEqualTypeOf<1>();
  });

  it('know what an operation takes and returns', () => {
    type Created = Awaited<ReturnType<Client['endpoints']['register']>>;
    expectTypeOf<Created['secret']>().toEqualTypeOf<string>();
    expectTypeOf<Awaited<ReturnType<Client['endpoints']['delete']>>>().toEqualTypeOf<undefined>();
    expectTypeOf<ItemOf<'listEvents'>['id']>().toEqualTypeOf<string>();
    expectTypeOf<ItemOf<'listEvents'>['example']>().toEqualTypeOf<boolean | undefined>();
    const call = (client: Client) => {
      client.events.list({ type: ['ticket.created'] });
      // @ts-expect-error an unknown event type
      client.events.list({ type: ['ticket.made'] });
      // @ts-expect-error an endpoint needs event types
      return client.endpoints.register({ url: 'https://receiver.example' });
    };
    expectTypeOf(call).toBeFunction();
  });
});
