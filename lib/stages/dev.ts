import type { StageFile } from '../infra/settings.ts';

/** Development. Deleting its stack deletes its data. */
export default { class: 'development' } satisfies StageFile;
