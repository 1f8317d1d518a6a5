import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { shapeOf, subjectOf } from '../../../lib/operate/subject.ts';
import { aBusEvent, aDelivery, NOW } from '../../builders.ts';

describe('the subject of a dead letter', () => {
  it('is the ids of a delivery message', () => {
    const { id, orgId, generation, webhookId, eventId } = aDelivery();
    expect(subjectOf(JSON.stringify({ id, orgId, generation, webhookId, eventId }))).toEqual({
      ids: [id, orgId, webhookId, eventId],
    });
  });

  it('is the type and the ids of an event of the bus', () => {
    const conversation = newId('cnv', NOW);
    const detail = aBusEvent({ type: 'message.received', data: { conversationId: conversation } });
    const { type, ids } = subjectOf(JSON.stringify({ 'detail-type': detail.type, detail }));
    expect(type).toBe('message.received');
    expect(ids).toEqual(expect.arrayContaining([detail.id, detail.orgId, conversation]));
  });

  it.each(['', 'text', '{', 'null', '[]'])('is empty when its body is %j', (body) => {
    expect(subjectOf(body)).toEqual({ ids: [] });
  });

  it("never contains a customer's text, in any field", () => {
    const secret = fc.string({ minLength: 1 }).map((text) => `canary ${text}`);
    fc.assert(
      fc.property(fc.object({ values: [secret, fc.integer()], maxDepth: 4 }), (body) => {
        const text = JSON.stringify(body);
        expect(JSON.stringify(subjectOf(text))).not.toContain('canary');
      }),
    );
  });

  it('separates an id from the text after it', () => {
    const id = newId('src', NOW);
    expect(subjectOf(JSON.stringify({ id: `${id}#changed#canary` })).ids).toEqual([id]);
  });
});

describe('the shape of a dead letter', () => {
  it('is the names of its members, without their values', () => {
    expect(shapeOf('{"id":"canary","detail":{"type":"canary","data":{"text":"canary"}},"all":[1,2]}')).toBe(
      '{ id, detail: { type, data: object }, all: [2] }',
    );
    expect(shapeOf('canary')).toBe('no JSON');
    expect(shapeOf('"canary"')).toBe('string');
  });
});
