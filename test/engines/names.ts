/** Engines that the contract suites can run on besides the embedded ones, in the order in which they run. */
export const ENGINES = ['dynamodb-local', 'elasticmq', 'dynoxide'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Pinned here and in `maven/*.xml`, which a unit test compares. */
export const VERSIONS: Readonly<Record<EngineName, string>> = {
  'dynamodb-local': '2.6.1',
  elasticmq: '1.7.1',
  dynoxide: '3.2.0',
};

export const isEngine = (name: string): name is EngineName => (ENGINES as readonly string[]).includes(name);
