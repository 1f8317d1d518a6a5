import { LocalRunError } from '../errors.ts';

/** What the rules look at of a mapping: some of its properties, with their defaults. */
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

/** What Lambda refuses when a mapping is made, beyond the range of one property. */
const RULES: readonly Rule[] = [
  (mapping) =>
    !isStream(mapping) && mapping.TumblingWindowInSeconds > 0 && 'TumblingWindowInSeconds is for streams',
  // Batches side by side would each have the state of the one before.
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

/** @throws LocalRunError naming the mapping and the rule that it breaks */
export function requireValid<Mapping extends MappingFacts>(mapping: Mapping): Mapping {
  for (const rule of RULES) {
    const finding = rule(mapping);
    if (finding) throw new LocalRunError(`${mapping.logicalId}: ${finding}`);
  }
  return mapping;
}
