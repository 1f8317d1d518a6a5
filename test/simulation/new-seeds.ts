import { execFileSync } from 'node:child_process';
import { hash, randomInt } from 'node:crypto';

const MOST = 999_999_999;
const RUNS = 300;

/**
 * Seeds that no run had before: those of the commit, so that a red run can be repeated. `SIMULATION_SEED` is
 * another first one, and `SIMULATION_RUNS` another number.
 */
export function newSeeds({ SIMULATION_SEED, SIMULATION_RUNS } = process.env): { seed: number; runs: number } {
  const seed = SIMULATION_SEED === undefined ? seedOfCommit() : Number(SIMULATION_SEED);
  return { seed, runs: Number(SIMULATION_RUNS ?? RUNS) };
}

function seedOfCommit(): number {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
    return hash('sha256', commit, 'buffer').readUInt32BE(0) % MOST;
  } catch {
    // Not a working copy: the printed number repeats it.
    return randomInt(MOST);
  }
}
