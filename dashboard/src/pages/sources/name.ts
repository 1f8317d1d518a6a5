import type { Source } from '../../api/sources.ts';

/** A source by its name, or the title of its content, or its address. */
export const nameOf = ({ name, title, url }: Pick<Source, 'name' | 'title' | 'url'>): string =>
  name ?? title ?? url;
