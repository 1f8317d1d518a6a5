import { describe, expect, it } from 'vitest';
import { type CpuProfile, stacksOf, toSpeedscope } from '../../bench/measure/profiles.ts';

let nodes: CpuProfile['nodes'] = [];

/** Adds a node of a profile; returns its id. */
function aNode(functionName: string, url: string, hitCount: number, children: number[] = []): number {
  const id = nodes.length + 1;
  const callFrame = { functionName, url, lineNumber: 0, columnNumber: 0, scriptId: '0' };
  nodes.push({ id, callFrame, hitCount, children });
  return id;
}

/** Of 100 samples of the main thread, 10 are of sockets below own code, 30 of own code, 60 of V8. */
function aProfile(): CpuProfile {
  nodes = [];
  aNode('(root)', '', 0, [2, 5, 6, 7]);
  aNode('handler', 'functions/workers/dispatch.ts', 20, [3, 4]);
  aNode('writev', 'node:net', 10);
  aNode('digest', '', 10);
  aNode('(garbage collector)', '', 40);
  aNode('(program)', '', 20);
  aNode('(idle)', '', 900);
  return { nodes, functionName: 'dispatch', mainMs: 50, otherThreadsMs: 5 };
}

describe('stacks of a profile', () => {
  it('have the time of the main thread by cause, without idle time, and that of other threads', () => {
    const byCause = Object.entries(Object.groupBy(stacksOf(aProfile()), ({ cause }) => cause)).map(
      ([cause, stacks = []]) => [cause, stacks.reduce((sum, { ms }) => sum + ms, 0)],
    );
    expect(Object.fromEntries(byCause)).toEqual({
      'own code': 15,
      'HTTP and sockets': 5,
      'garbage collection': 20,
      'native code without a caller': 10,
      'other threads of V8': 5,
    });
  });
});

describe('a flame graph', () => {
  it('has each stack once, with its time for each unit', () => {
    const stacks = stacksOf(aProfile());
    const { shared, profiles } = JSON.parse(
      toSpeedscope(new Map([['dispatch', [...stacks, ...stacks]]]), 10),
    );
    const [{ name, samples, weights, endValue }] = profiles;
    const texts = samples.map((sample: number[]) =>
      sample.map((index) => shared.frames[index].name).join(' > '),
    );
    expect(name).toBe('dispatch');
    expect(endValue).toBe(11);
    expect(Object.fromEntries(texts.map((text: string, index: number) => [text, weights[index]]))).toEqual({
      'handler functions/workers/dispatch.ts': 2,
      'handler functions/workers/dispatch.ts > writev node:net': 1,
      'handler functions/workers/dispatch.ts > digest': 1,
      '(garbage collector)': 4,
      '(program)': 2,
      'other threads of V8': 1,
    });
  });
});
