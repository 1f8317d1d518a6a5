import { LocalRunError } from '../errors.ts';

/** Properties of a mapping that the rules check, with defaults. */
interface MappingFacts {
  logicalId: string;
  EventSourceArn: string;
  BatchSize?: number | undefined;
  MaximumBatchingWindowInSeconds: number;
  ParallelizationFactor: number;
  ScalingConfig?: object | undefined;
  StartingPosition?: string | undefined;
  TumblingWindowInSeconds: number;
}

type Rule = (mapping: MappingFacts) => string | false;

/** Combinations of properties that Lambda rejects. */
const RULES: readonly Rule[] = [
  (mapping) =>
    !isStream(mapping) && mapping.TumblingWindowInSeconds > 0 && 'TumblingWindowInSeconds is for streams',
  // Concurrent batches would each have the previous one's state.
  (mapping) =>
    mapping.TumblingWindowInSeconds > 0 &&
    mapping.ParallelizationFactor > 1 &&
    'ParallelizationFactor has to be 1 with a TumblingWindowInSeconds',
  (mapping) => isStream(mapping) && mapping.StartingPosition === undefined && 'StartingPosition is missing',
  (mapping) => isStream(mapping) && mapping.ScalingConfig !== undefined && 'ScalingConfig is for queues',
  (mapping) =>
    !isStream(mapping) &&
    (mapping.BatchSize ?? 0) > 10 &&
    mapping.MaximumBatchingWindowInSeconds === 0 &&
    'MaximumBatchingWindowInSeconds has to be greater than 0 with a BatchSize greater than 10',
];

export function isStream({ EventSourceArn }: Pick<MappingFacts, 'EventSourceArn'>): boolean {
  return EventSourceArn.includes(':dynamodb:');
}

/** @throws LocalRunError naming the mapping and the violated rule */
export function requireValid<Mapping extends MappingFacts>(mapping: Mapping): Mapping {
  for (const rule of RULES) {
    const finding = rule(mapping);
    if (finding) throw new LocalRunError(`${mapping.logicalId}: ${finding}`);
  }
  return mapping;
}
