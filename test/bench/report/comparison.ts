import { type Figure, nameOf } from '../figure.ts';
import type { BenchDocument } from './document.ts';

/** The change of a figure since an earlier report. */
export interface Change {
  /** The section, the row and the column. */
  name: string;
  before: Figure;
  now: Figure;
  /** Now by before. */
  ratio: number;
  verdict: Verdict;
}

/**
 * `same`: the difference is within twice the spread of both. `unclear`: it differs, but a time with one run
 * cannot show whether that is significant. `other`: it differs, neither better nor worse.
 */
export type Verdict = 'better' | 'worse' | 'same' | 'unclear' | 'other';

/**
 * The runs of one report agree more with one another than with those of another one: a process stays fast or
 * slow for its lifetime. The same commit twice differed by up to 1.4 times the spread of both together.
 */
const SPREADS = 2;
/** A smaller difference is unchanged, also where all runs agree. */
const LEAST = 0.001;

/** Compares the common figures of both reports. */
export function compare(
  before: Pick<BenchDocument, 'sections'>,
  now: Pick<BenchDocument, 'sections'>,
): Change[] {
  const previous = figuresOf(before);
  return [...figuresOf(now)].flatMap(([name, figure]) => {
    const earlier = previous.get(name);
    if (earlier === undefined || earlier.unit !== figure.unit) return [];
    return [
      {
        name,
        before: earlier,
        now: figure,
        ratio: ratioOf(earlier, figure),
        verdict: verdictOf(earlier, figure),
      },
    ];
  });
}

export function verdictOf(before: Figure, now: Figure): Verdict {
  const difference = now.median - before.median;
  const tolerance = Math.max(
    SPREADS * (before.spread.value + now.spread.value),
    LEAST * Math.abs(before.median),
  );
  if (Math.abs(difference) <= tolerance) return 'same';
  if (now.better === 'neither') return 'other';
  if (!now.exact && (before.runs < 2 || now.runs < 2)) return 'unclear';
  return difference > 0 === (now.better === 'more') ? 'better' : 'worse';
}

/** Zero and zero are unchanged. */
const ratioOf = (before: Figure, now: Figure): number =>
  before.median === now.median ? 1 : now.median / before.median;

const figuresOf = ({ sections }: Pick<BenchDocument, 'sections'>): Map<string, Figure> =>
  new Map(
    sections.flatMap(({ name, blocks }) =>
      blocks.flatMap(({ figures }) => figures.map((figure) => [nameOf(figure, name), figure] as const)),
    ),
  );
