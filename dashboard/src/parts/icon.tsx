import type { LucideIcon } from 'lucide-react';

/**
 * A picture beside a word that says the same, so screen readers leave it out.
 * @param of from `lucide-react`; only icons that are used are in the application
 */
export const Icon = ({ of: Drawing }: { of: LucideIcon }) => (
  <Drawing aria-hidden="true" size="1.125em" strokeWidth={1.75} style={{ flex: 'none' }} />
);
