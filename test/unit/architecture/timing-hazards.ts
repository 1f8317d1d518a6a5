/** A pattern that makes a test depend on the machine's speed. */
interface Hazard {
  pattern: RegExp;
  instead: string;
}

const HAZARDS: readonly Hazard[] = [
  {
    pattern: /\bvi\.(?:waitFor|waitUntil)\(/g,
    instead: 'awaitAssertion or until: these give up after a second',
  },
  {
    pattern: /\bawait (?:sleep|delay|setTimeout)\(\s*(?:\d{3}|\d{1,3}_\d{3}|\d{4,})\b/g,
    instead: 'until: what is waited for may come later',
  },
  {
    pattern: /\bsetTimeout\(\s*(?:resolve|done|\(\) => (?:resolve|done)\(\))\s*,\s*(?:\d{3,}|\d+_\d+)\b/g,
    instead: 'until: what is waited for may come later',
  },
  {
    pattern:
      /\bexpect\((?:[^()]|\([^()]*\))*(?:performance|Date)\.now\(\)(?:[^()]|\([^()]*\))*\)\s*\.toBeLess/g,
    instead: 'a bound that is no measure of speed: a busy machine is slower',
  },
  {
    pattern: /\.listen\(\s*(?:\{\s*port:\s*)?[1-9]\d*\b/g,
    instead: 'port 0: another process may have this one',
  },
  {
    // In the same object: the settings of a run.
    pattern:
      /\{(?=[^{}]*\bATTEMPT_TIMEOUT_SECONDS: '[1-9]'|[^{}]*\battemptTimeoutSeconds: [1-9]\b)(?![^{}]*\b(?:RETRY_BASE_SECONDS|retryBaseSeconds):)[^{}]*/g,
    instead: 'a short wait between attempts too: a receiver of a busy machine misses a short deadline',
  },
];

/** Lists what makes a test fail on a slow machine, or beside another run: a line for each. */
export function findTimingHazards(source: string): string[] {
  return HAZARDS.flatMap(({ pattern, instead }) =>
    [...source.matchAll(pattern)].map(({ 0: match, index }) => {
      const line = source.slice(0, index).split('\n').length;
      return `line ${line}: ${match.replaceAll(/\s+/g, ' ')}… (use ${instead})`;
    }),
  );
}
