VACUUM customer;
VACUUM supplier;
VACUUM part;
VACUUM date;
VACUUM lineorder;
