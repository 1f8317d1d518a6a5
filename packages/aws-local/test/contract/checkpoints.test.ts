import { describe, expect, it, onTestFinished } from 'vitest';
import { type Checkpoints, openCheckpoints } from '../../src/engines/checkpoints.ts';
import { stateDirectory } from './state-directory.ts';

function open(directory: string): Checkpoints {
  const checkpoints = openCheckpoints(directory);
  onTestFinished(() => checkpoints.close());
  return checkpoints;
}

describe('checkpoints', () => {
  it('are unknown before the first', () => {
    expect(open(stateDirectory()).get('relay', 'shard-1')).toBeUndefined();
  });

  it('belong to one source and shard, and the last one counts', () => {
    const checkpoints = open(stateDirectory());
    checkpoints.set('relay', 'shard-1', '9');
    checkpoints.set('relay', 'shard-1', '10');
    checkpoints.set('relay', 'shard-2', '3');
    checkpoints.set('meter', 'shard-1', '4');

    expect(checkpoints.get('relay', 'shard-1')).toBe('10');
    expect(checkpoints.get('relay', 'shard-2')).toBe('3');
    expect(checkpoints.get('meter', 'shard-1')).toBe('4');
    expect(Object.fromEntries(checkpoints.of('relay'))).toEqual({ 'shard-1': '10', 'shard-2': '3' });
  });

  it('are found by the next process, even when they were not closed', () => {
    const directory = stateDirectory();
    open(directory).set('relay', 'shard-1', '170141183460469231731687303715884105728');

    expect(open(directory).get('relay', 'shard-1')).toBe('170141183460469231731687303715884105728');
  });
});
