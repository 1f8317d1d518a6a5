/** The factor by which tests wait longer for slower engines or on a busy machine: `TEST_PATIENCE`. */
export const PATIENCE = Number(process.env.TEST_PATIENCE ?? '1');
